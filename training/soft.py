"""Soft targets across languages: what an English checkpoint answers about the English side of pairs/, as contrast sets whose texts are
all sides of a pair (sets/README.md; gold: shares of the options).

usage: soft.py --base STUDENT --init student.pt --data DIR --dev dev.jsonl --teacher CHECKPOINT_DIR --out told.jsonl [--sets 8 --of 1000]
Each text, but labels and the lexicon, is asked what the contrast sets ask whose texts are nearest to it in the student's vectors, out of
so many sets of short texts that dev does not hold out. The teacher answers through `qa run`.
"""

import argparse
import json
import os
import random

import torch

from draw import Draw, set_of
from evaluate import through_qa
from segments import Segments, Tokens
from sources import of_record, pairs_of, read, text
from vectors import pooled, trained

SHORT = 200  # characters of the longest text of a set that is asked
FEW = 4  # texts that stand for a set
QUESTIONS = 4  # of a set about a text, at most


def sets_of(a):
    """Contrast sets of short texts, asked in English, that training may draw -> {set: its records}."""
    tasks, rows = read(a.data, None)
    seen = {text(json.loads(line)["state"]) for line in open(a.dev, encoding="utf8")}
    draw = Draw(tasks, rows, json.load(open(a.suite)), seen, random.Random(1))
    kept = {}
    for source, rs in draw.records.items():
        if source.startswith("set_") and not source.startswith("set_native"):
            for r in rs:
                kept.setdefault(set_of(r), []).append(r)
    return {
        s: rs
        for s, rs in kept.items()
        if rs[0]["lang"] in ("en", "mul") and max(len(text(r["state"])) for r in rs) <= SHORT
    }


def asked_of(pairs, sets, tokens, segments, n):
    """-> [(pair, set)], ordered by set: for each pair the n sets with the nearest text."""

    def vectors(texts):
        return pooled(segments, [tuple(tokens.state(s)) for s in texts])

    few = {s: rs[:FEW] for s, rs in sets.items()}
    names = [s for s, rs in few.items() for _ in rs]
    theirs = vectors([text(r["state"]) for rs in few.values() for r in rs])
    own = vectors([p["en"] for p in pairs])
    out = []
    for i, near in enumerate(own @ theirs.T):
        first = list(dict.fromkeys(names[j] for j in near.argsort(descending=True)[: FEW * n].tolist()))
        out += [(i, s) for s in first[:n]]
    return sorted(out, key=lambda x: (x[1], x[0]))


def gold(question, p):
    """Probabilities of the options -> what a set says of them."""
    if question.type == "noul":
        return round(p[1], 4)
    return {k: round(x, 4) for (k, _), x in zip(question.options, p)}


@torch.no_grad()
def main():
    p = argparse.ArgumentParser()
    here = os.path.dirname(os.path.abspath(__file__))
    options = dict(
        base="",
        init="",
        data="",
        dev="",
        teacher="",
        out="",
        suite=f"{here}/dev-suite.json",
        sets=8,
        of=1000,
        seed=1,
        own=f"{here}/pairs",
    )
    for k, d in options.items():
        p.add_argument("--" + k, default=d, type=type(d))
    a = p.parse_args()
    rng = random.Random(a.seed)
    pairs = [pair for name, pair in pairs_of(a.own) if not name.startswith(("labels", "words-"))]
    sets = sets_of(a)
    sets = {k: sets[k] for k in sorted(rng.sample(list(sets), min(a.of, len(sets))))}
    print(len(pairs), "pairs,", len(sets), "sets", flush=True)
    tokens = Tokens(f"{a.base}/tokenizer.json")
    segments = Segments(trained(a.base, torch.load(a.init)), tokens.pad, "cpu")
    chosen = asked_of(pairs, sets, tokens, segments, a.sets)
    keys = {}
    for _, s in chosen:
        if s not in keys:
            asked = sets[s][0]["questions"]
            keys[s] = rng.sample(list(asked), min(QUESTIONS, len(asked)))
    print(len(keys), "sets nearest,", sum(len(keys[s]) for _, s in chosen), "questions", flush=True)
    asked = []
    for i, s in chosen:
        one = sets[s][0]
        about = dict(id=f"{i} {s}", source=s, family=s, lang="en", state=pairs[i]["en"])
        asked.append((about, [of_record(one["questions"][k], one["gold"][k], s) for k in keys[s]]))
    answers = {}
    for row in through_qa(a.teacher, asked, a.out):
        answers.setdefault(row["id"], []).append(row["p"])
    with open(a.out, "w", encoding="utf8") as f:
        for (i, s), (r, qs) in zip(chosen, asked):
            if r["id"] not in answers:
                continue
            told = {k: gold(q, p) for k, q, p in zip(keys[s], qs, answers[r["id"]])}
            one = sets[s][0]
            other = {
                k: dict(one["otherwise"][k][0], turned=k in one["turned"])
                for k in keys[s]
                if k in one["otherwise"]
            }
            line = dict(
                lang="mul",
                questions={k: one["questions"][k] for k in keys[s]},
                otherwise=other,
                texts=[dict(state=x, gold=told) for x in pairs[i].values()],
            )
            f.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
