"""The dev table of exported checkpoints, the untrained similarity beside them, and how often a paraphrase changes the answer.
Checkpoints answer through `qa run` itself (built before: npm run build), so that what is measured is what ships.

usage: evaluate.py --dev dev.jsonl --rows DIR [--each N] [--by family] [--flips 400] [--languages 10 --of sib200] name=CHECKPOINT_DIR ... [similarity=CHECKPOINT_DIR]
--each: so many requests of records, contrast sets and tasks each, drawn alike for every checkpoint.
A name that starts with `similarity` asks the encoder's cosine alone. Raw answers are kept in --rows and reused.
"""

import argparse
import json
import os
import random
import subprocess
from dataclasses import replace

import metrics
from checkpoint import Checkpoint, measured, requests
from sources import of_record

QA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bin", "qa.js")


def models_with(path, folder):
    """-> a folder of links to the checkpoints that ship, the given one in its place, and its name: qa wants all of them there."""
    shipped, name = os.path.join(os.path.dirname(QA), "..", "models"), os.path.basename(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    for n in {*os.listdir(shipped), name}:
        link = f"{folder}/{n}"
        if os.path.islink(link):
            os.remove(link)
        os.symlink(os.path.abspath(path if n == name else f"{shipped}/{n}"), link)
    return folder, name


def deployment_of(model):
    """The deployment that has a checkpoint of this name."""
    folder = os.path.join(os.path.dirname(QA), "..", "deployments")
    for file in sorted(os.listdir(folder)):
        with open(f"{folder}/{file}", encoding="utf8") as f:
            if model in json.load(f)["checkpoints"].values():
                return file.removesuffix(".json")
    raise SystemExit(f"no deployment has {model}: name the folder after a checkpoint that ships")


def through_qa(path, asked, kept):
    """[(request, [Question])] -> rows for metrics.py, answered by `qa run`; requests that it refuses (no room) are left out."""
    folder, model = models_with(path, f"{kept}.models")
    wanted, answered = f"{kept}.requests.ndjson", f"{kept}.answers.ndjson"
    with open(wanted, "w", encoding="utf8") as f:
        for i, (r, qs) in enumerate(asked):
            questions = {f"q{k}": q.wire() for k, q in enumerate(qs)}
            f.write(json.dumps(dict(ref=i, state=r["state"], questions=questions), ensure_ascii=False) + "\n")
    named = ["--models", folder, "--deployment", deployment_of(model), "--model", model]
    run = ["node", QA, "run", wanted, *named, "--out", answered, "--restart"]
    done = subprocess.run([*run, "--only-answers", "--id-column", "ref", "--quiet"])
    assert done.returncode in (0, 3), done.returncode  # 3: some rows were refused
    out = []
    for line in open(answered, encoding="utf8"):
        row = json.loads(line)
        if "error" in row:
            continue
        r, qs = asked[int(row["ref"])]
        of = {k: r[k] for k in ("id", "source", "family", "lang")}
        for k, q in enumerate(qs):
            a = row["answers"][f"q{k}"]
            p = (
                [1 - a["noul"], a["noul"]]
                if q.type == "noul"
                else [a["probabilities"][o] for o, _ in q.options]
            )
            out.append(dict(of, type=q.type, gold=q.target, p=p))
    return out


def some_of_each(dev, n, seed=5):
    """The requests of dev, of each kind at most n where n is set."""
    kinds = {}
    for r, qs in requests(dev):
        kinds.setdefault(metrics.kind_of(r["source"]), []).append((r, qs))
    rng = random.Random(seed)
    return [x for _, rs in sorted(kinds.items()) for x in rng.sample(rs, min(n or len(rs), len(rs)))]


def answers(name, path, dev, kept, each):
    file = f"{kept}/{name}.rows.json"
    if not os.path.exists(file):
        asked = some_of_each(dev, each)
        alone = name.startswith("similarity")
        rows = (
            measured(Checkpoint(path), asked, "similarity")
            if alone
            else through_qa(path, asked, f"{kept}/{name}")
        )
        json.dump(rows, open(file, "w"))
    return json.load(open(file))


def table(results, by):
    """results {name: rows} -> a markdown table, a line per source (or whatever key of a row) and type; only questions that all of
    them answered."""

    indexed = {name: metrics.by_question(rows) for name, rows in results.items()}
    common = set.intersection(*(set(v) for v in indexed.values()))
    names = list(results)
    group = {
        f"all {kind}, {said}": lambda r, kind=kind, own=own: (
            metrics.kind_of(r["source"]) == kind and (r["lang"] == "en") == own
        )
        for own, said in ((True, "English"), (False, "other languages"))
        for kind in ("synth", "sets", "tasks")
    }
    for s in sorted({r[by] for rows in results.values() for r in rows}):
        group[s] = lambda r, s=s: r[by] == s
    print(f"| {by} | measure | n | " + " | ".join(names) + " |\n|---|---|---|" + "---|" * len(names))
    for label, take in group.items():
        for kind, measure in (
            ("choice", "choice"),
            ("noul", "noul_balanced"),
            ("score", "score"),
            ("score", "score_half"),
            ("score", "score_mae"),
        ):
            own = {
                n: [r for k, r in indexed[n].items() if k in common and r["type"] == kind and take(r)]
                for n in names
            }
            if len(own[names[0]]) < 10 or (
                measure != kind and kind == "score" and not label.startswith("all")
            ):
                continue
            print(
                f"| {label} | {measure} | {len(own[names[0]])} | "
                + " | ".join(f"{metrics.measures(own[n])[measure]:.3f}" for n in names)
                + " |"
            )


def languages(results, least, source):
    """Share of right answers to questions of one source by language (of those with `least` answers or more), their mean, the worst
    ten, and who is good, fair and poor."""
    for name, rows in results.items():
        by = {}
        for r in rows:
            if metrics.decided(r) and r["source"] == source:
                by.setdefault(r["lang"], []).append(r)
        right = {lang: metrics.mean(map(metrics.hit, rs)) for lang, rs in by.items() if len(rs) >= least}
        worst = sorted(right, key=right.get)
        print(
            f"{name}: {metrics.mean(right.values()):.3f} over {len(right)} languages by {source}; worst",
            ", ".join(f"{lang} {right[lang]:.2f} of {len(by[lang])}" for lang in worst[:10]),
        )
        for low, high, said in ((0.75, 2, "good"), (0.55, 0.75, "fair"), (0, 0.55, "poor")):
            own = sorted(lang for lang, x in right.items() if low <= x < high)
            print(f"  {said} ({low} and more): {len(own)}:", " ".join(own))


def flips(path, dev, n, kept, wordings, seed=11):
    """Share of answers (argmax) that another wording changes, over n questions of held-out tasks; wordings: request and question ->
    the question in other words."""
    asked = [(r, [qs[0], *wordings(r, qs[0])]) for r, qs in requests(dev)]
    asked = [(r, qs) for r, qs in asked if len(qs) > 1]
    changed, first = {}, {}
    for row in through_qa(path, random.Random(seed).sample(asked, min(n, len(asked))), f"{kept}/flips"):
        answer = metrics.top(row["p"])
        if row["id"] in first:
            changed.setdefault(row["type"], []).append(int(answer != first[row["id"]]))
        else:
            first[row["id"]] = answer
    return {k: f"{metrics.mean(v):.3f} of {len(v)}" for k, v in sorted(changed.items())}


def other_labels(dev):
    """-> wordings for `flips`: the choices of a contrast set that draw the same line as its first question under other names, with
    their options in its order. Which name stands for which, the golds of the set's texts tell."""
    sets = {}
    for r, _ in requests(dev):
        if r["source"].startswith("set_"):
            sets.setdefault(r["id"].rsplit("-", 1)[0], []).append(r)

    def wordings(r, q):
        texts = sets.get(r["id"].rsplit("-", 1)[0], ())
        first, *others = r["questions"]
        same = []
        for k in others if q.type == "choice" else ():
            golds = [t["gold"] for t in texts if first in t["gold"] and k in t["gold"]]
            name = {g[first]: g[k] for g in golds}
            if set(name.items()) == {(g[first], g[k]) for g in golds} and len(set(name.values())) == len(
                name
            ) == len(q.options) == len(r["questions"][k].get("criteria") or ()):
                twin = of_record(r["questions"][k], r["gold"][k], r["family"])
                said = dict(twin.options)
                same.append(replace(twin, options=[(name[o], said[name[o]]) for o, _ in q.options]))
        return same

    return wordings


def other_words(r, q):
    """The first question of a text of a contrast set in other words; not one that asks the opposite."""
    other, gold = r.get("otherwise", {}).get(next(iter(r["questions"])), (None, None))
    if other is None or (q.type == "noul" and gold != r["gold"][next(iter(r["questions"]))]):
        return []
    return [of_record(other, gold, r["family"])]


WORDINGS = {
    "instructions": lambda dev: lambda r, q: [replace(q, instructions=x) for x in r.get("paraphrases") or ()],
    "descriptions of options": lambda dev: (
        lambda r, q: [of_record(r["reworded"], r["gold"]["q"], r["family"])] if r.get("reworded") else []
    ),
    "names of options": other_labels,
    "words for all of it": lambda dev: other_words,
}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--dev", required=True)
    p.add_argument("--rows", required=True)
    p.add_argument("--each", type=int, default=0)
    p.add_argument("--by", default="source", choices=("source", "family", "lang"))
    p.add_argument("--flips", type=int, default=0)
    p.add_argument("--languages", type=int, default=0)
    p.add_argument("--of", default="sib200")
    p.add_argument("checkpoints", nargs="+")
    a = p.parse_args()
    os.makedirs(a.rows, exist_ok=True)
    paths = dict(c.split("=", 1) for c in a.checkpoints)
    results = {n: answers(n, path, a.dev, a.rows, a.each) for n, path in paths.items()}
    table(results, a.by)
    for name, rows in results.items():
        plain, less = metrics.centred([r for r in rows if metrics.kind_of(r["source"]) == "sets"])
        if plain:
            print(f"{name}: questions of five texts or more:", metrics.line(plain))
            print(f"{name}: the same less each one's mean over its texts:", metrics.line(less))
    if a.languages:
        languages(results, a.languages, a.of)
    for name, path in paths.items():
        if a.flips and not name.startswith("similarity"):
            for what, wordings in WORDINGS.items():
                print(f"{name}: flips by other {what}:", flips(path, a.dev, a.flips, a.rows, wordings(a.dev)))


if __name__ == "__main__":
    main()
