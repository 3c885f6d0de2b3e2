"""The zero-shot dev suite: whole tasks and a fifth of the synth records that no training run may see.

usage: dev_suite.py --data DIR [--suite dev-suite.json] [--questions dev.jsonl] [--lang en | other] [--otherwise 1] [--whole set_trades]
Writes the list (committed) and, from it, the questions as requests with gold (kept out of git). A list that exists is kept.
--otherwise: only the questions of contrast sets that have other words, in those. --whole: all records of these sources and nothing
else; the ruler's (RULER) are asked only so.
"""

import argparse
import hashlib
import json
import os
import random
import re
from dataclasses import replace

from sources import of_row, read

# Contrast sets kept out whole: a ruler, apart from the suite's own questions and from whatever is fitted on those.
RULER = (
    "set_trades",
    "set_tongues",
    "set_plain",
    "set_crafts",
    "set_lands",
    "set_abroad",
    "set_abroad_english",
)
# Families held out whole, by the start of the task id; "{n}" after a name keeps every n-th task of the family.
FAMILIES = [
    "clinc.domain",
    "clinc.same",
    "clinc.is.{12}",
    "hwu.domain",
    "hwu.is.{8}",
    "snips.",
    "trec.is.{6}",
    "subjectivity.",
    "pros_cons.",
    "sgd.slot.{6}",
    "sgd.asks.{5}",
    "sgd.wants.{8}",
    "sgd.turn.{4}",
    "sgd.bool.{5}",
    "sgd.stars",
    "sgd.system_act",
    "product_reviews.strength",
    "product_reviews.mentions",
    "tweeteval.irony",
    "tweeteval.is_irony",
    "tweeteval.is_literal",
    "tweeteval.stance",
    "tweeteval.in_favor",
    "tweeteval.against",
    "goemotions.has.{7}",
    "goemotions.ekman",
    "goemotions.sentiment",
    "brighter.main",
    "brighter.has.surprise",
    "brighter.level.fear",
    "nli.rte.lacks",
    "sni.sick.",
    "sni.feeling.",
    "sni.politics.",
    "sni.where.",
    "sni.false.",
    "sni.yesand.",
    "sni.remark.",
    "sni.genre.",
    "sni.clariq.",
    "sni.e2e.",
    "sni.t{15}",
    "nic.detox",
    "nic.group",
    "nic.related",
    "nic.unrelated",
    "t0.dream.",
    "t0.quarel.",
    "t0.app.",
    "t0.mrpc.",
    "t0.wikibio.",
    "indonlu.",
    "nltk.",
]
PER_FAMILY = 48
PER_LANGUAGE = 16  # of a family, or of a source's own dev rows in one language, other than English


def family(task):
    """The task without its state form and label set: what is counted as one unseen task."""
    parts = task.split(".")
    return ".".join(parts[:3] if parts[0] in ("nli",) else parts[:2]).removesuffix("ok")


def every(name, n):
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % n == 0


def held_out(task):
    for f in FAMILIES:
        start, _, step = f.partition("{")
        if not task.startswith(start):
            continue
        unit = re.sub(r"^(sni\.t\d+).*", r"\1", task) if start == "sni.t" else task
        if start == "sni.t" and not re.match(r"sni\.t\d", task):
            continue
        if not step or every(unit, int(step[:-1])):
            return True
    return False


def reworded(q, task, rng):
    """The question with other descriptions of the same options; None where the task has no other."""
    if q.type == "choice":
        known = task.get("options") or {}
        others = [known.get(k) or [] for k, _ in q.options] if isinstance(known, dict) else []
    else:
        others = task.get("levels") if q.type == "score" else [task.get(k) or [] for k in ("false", "true")]
    pairs = [
        (k, rng.choice([x for x in said if x != d] or [d])) for (k, d), said in zip(q.options, others or [])
    ]
    return replace(q, options=pairs).wire() if pairs and pairs != q.options else None


def make(tasks, rows):
    seen = {r["task"] for rs in rows.values() for r in rs if "task" in r}
    records = [(s, r) for s, rs in rows.items() for r in rs if "questions" in r]
    return {
        "tasks": sorted(t for t in seen if held_out(t)),
        "records": sorted(r["id"] for s, r in records if s in RULER or every(r.get("sibling", r["id"]), 5)),
    }


def questions(suite, tasks, rows, seed=7):
    """-> requests {id, lang, state, questions, gold, source, family}: one a row for tasks, one a record for synth. In languages other
    than English also rows that the sources mark `dev`: of known tasks, about texts that no run sees."""
    rng = random.Random(seed)
    out = []
    held = set(suite["tasks"])
    records = set(suite["records"])
    by = {}
    for source, rs in rows.items():
        for r in rs:
            if "questions" in r:
                if r["id"] in records:
                    out.append(
                        dict(
                            id=r["id"],
                            lang=r.get("lang", "en"),
                            source=source,
                            family=source,
                            state=r["state"],
                            questions=r["questions"],
                            gold=r["gold"],
                            otherwise=r.get("otherwise", {}),
                        )
                    )
            elif r["task"] in held:
                by.setdefault(
                    (source, family(r["task"]), r.get("type") or tasks[r["task"]]["type"]), []
                ).append(r)
            elif r.get("split") == "dev" and r.get("lang", "en") != "en":
                by.setdefault((source, f"{source}.{r['lang']}", ""), []).append(r)
    for (source, fam, kind), rs in sorted(by.items()):
        few = PER_FAMILY if rs[0].get("lang", "en") == "en" else PER_LANGUAGE
        for i, r in enumerate(rng.sample(rs, min(few, len(rs)))):
            q = of_row(r, tasks[r["task"]], rng, spread=4.6)
            keys = [k for k, _ in q.options]
            gold = dict(zip(keys, q.target)) if q.type == "choice" else r["gold"]
            said = tasks[r["task"]].get("instructions", []) if "instructions" not in r else []
            out.append(
                dict(
                    id=f"{fam}-{kind}-{i}" if kind else f"{fam}-dev-{i}",
                    lang=r.get("lang", "en"),
                    source=source,
                    family=fam,
                    state=r["state"],
                    questions={"q": q.wire()},
                    gold={"q": gold},
                    paraphrases=[x for x in said if x != q.instructions][:3],
                    reworded=reworded(q, {**tasks[r["task"]], **r}, random.Random(f"{fam}-{kind}-{i}")),
                )
            )
    return out


def otherwise(request):
    """A request with its questions in other words (sets/README.md), as far as they have any."""
    told = request["otherwise"]
    return dict(
        request,
        questions={k: q for k, (q, _) in told.items()},
        gold={k: gold for k, (_, gold) in told.items()},
    )


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--data", required=True)
    a.add_argument("--suite", default="dev-suite.json")
    a.add_argument("--questions", default="")
    a.add_argument("--lang", default="en")
    a.add_argument("--otherwise", default=0, type=int)
    a.add_argument("--whole", default="")
    a = a.parse_args()
    tasks, rows = read(a.data, None)
    if not os.path.exists(a.suite):
        with open(a.suite, "w", encoding="utf8") as f:
            f.write(json.dumps(make(tasks, rows), indent=2) + "\n")
    suite = json.load(open(a.suite))
    rows = {s: [r for r in rs if (r.get("lang", "en") == "en") == (a.lang == "en")] for s, rs in rows.items()}
    if a.whole:
        rows = {s: rows[s] for s in a.whole.split(",")}
        suite = suite | {"records": [r["id"] for rs in rows.values() for r in rs]}
    else:
        rows = {s: rs for s, rs in rows.items() if s not in RULER}
    out = questions(suite, tasks, rows)
    if a.otherwise:
        out = [otherwise(r) for r in out if r.get("otherwise")]
    types = [q["type"] for r in out for q in r["questions"].values()]
    print(
        len(suite["tasks"]),
        "tasks in",
        len({family(t) for t in suite["tasks"]}),
        "families;",
        len(suite["records"]),
        "records;",
        {t: types.count(t) for t in set(types)},
    )
    if a.questions:
        with open(a.questions, "w", encoding="utf8") as f:
            f.writelines(json.dumps(r, ensure_ascii=False) + "\n" for r in out)


if __name__ == "__main__":
    main()
