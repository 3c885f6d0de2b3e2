"""Soft targets: what an English checkpoint answers when texts are asked what was written about others, as contrast sets
(sets/README.md; gold: shares of the options).

usage: soft.py --base BASE --init encoder.pt --data DIR --dev dev.jsonl --teacher CHECKPOINT_DIR --out told.jsonl --of pairs|sets [--asks 6 --groups 0]
--of pairs: the English side of pairs/ (but labels and the lexicon) is asked, all sides get the answer, a set a pair. --of sets: the texts of
contrast sets are asked, the set stays together. A group of like texts is asked what those contrast sets ask (of short texts, none of them held out
by dev) whose texts are nearest to it in the vectors of an encoder: questions are then read once for all of them. The teacher answers through
`qa run`. Statements that it finds true of no text of a group are left out: they teach no more than a no.
"""

import argparse
import json
import os
import random

import torch
import torch.nn.functional as F

from draw import Draw, set_of
from evaluate import through_qa
from segments import Segments, Tokens
from sources import of_record, pairs_of, read, text
from vectors import pooled, trained

SHORT = 300  # characters of the longest text of a set that is asked
GROUP = 12  # texts that are asked the same, at most
FEW = 2  # texts that stand for a set
QUESTIONS = 3  # of a set about a group, at most
LIKELY = 0.35  # P(yes) that one text of a group must reach


def sets_of(a):
    """Contrast sets of short English texts that training may draw -> {set: its records}."""
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
        if rs[0]["lang"] == "en" and max(len(text(r["state"])) for r in rs) <= SHORT
    }


def groups_of_pairs(folder, vectors):
    """-> [(None, pairs of one file that are near each other)]"""
    files = {}
    for name, pair in pairs_of(folder):
        if not name.startswith(("labels", "words")):
            files.setdefault(name, []).append(pair)
    out = []
    for pairs in files.values():
        own = vectors([p["en"] for p in pairs])
        left = list(range(len(pairs)))
        while left:
            near = (own[left] @ own[left[0]]).argsort(descending=True)[:GROUP].tolist()
            out.append((None, [pairs[left[i]] for i in near]))
            left = [x for i, x in enumerate(left) if i not in set(near)]
    return out


def groups_of_sets(sets, n, rng):
    """-> [(set, texts of it)], n of them or, without n, all."""
    return [
        (s, [{"en": text(r["state"])} for r in sets[s][:GROUP]])
        for s in rng.sample(list(sets), min(n or len(sets), len(sets)))
    ]


def asked_of(groups, sets, vectors, n):
    """-> for each group the n sets with the nearest texts, its own left out."""
    names = list(sets)
    few = [r for s in names for r in sets[s][:FEW]]
    at = [i for i, s in enumerate(names) for _ in sets[s][:FEW]]
    theirs = vectors([text(r["state"]) for r in few])
    means = F.normalize(
        torch.zeros(len(names), theirs.shape[1]).index_add(0, torch.tensor(at), theirs), dim=-1
    )
    out = []
    for own, texts in groups:
        near = means @ vectors([t["en"] for t in texts]).mean(0)
        out.append([names[i] for i in near.argsort(descending=True)[: n + 1].tolist() if names[i] != own][:n])
    return out


def gold(question, p):
    """Probabilities of the options -> what a set says of them."""
    if question.type == "noul":
        return round(p[1], 4)
    return {k: round(x, 4) for (k, _), x in zip(question.options, p)}


def contrast_sets(told, answers, sets, together):
    """told [(texts, [(set, key, question)], ids of the texts)], answers {id: [probabilities]} -> lines of a file of contrast sets: one a
    group and a set (together), else one a text and a set."""
    for texts, qs, ids in told:
        there = [(t, answers[i]) for t, i in zip(texts, ids) if i in answers]
        if not there:
            continue
        for s in dict.fromkeys(s for s, _, _ in qs):
            kept = [
                (j, k, q)
                for j, (x, k, q) in enumerate(qs)
                if x == s and (q.type != "noul" or max(p[j][1] for _, p in there) >= LIKELY)
            ]
            if not kept:
                continue
            one = sets[s][0]
            said = [(t, {k: gold(q, p[j]) for j, k, q in kept}) for t, p in there]
            for part in [said] if together else [[x] for x in said]:
                yield dict(
                    lang="en" if together else "mul",
                    questions={k: one["questions"][k] for _, k, _ in kept},
                    otherwise={
                        k: dict(one["otherwise"][k][0], turned=k in one["turned"])
                        for _, k, _ in kept
                        if k in one["otherwise"]
                    },
                    texts=[dict(state=x, gold=g) for t, g in part for x in t.values()],
                )


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
        of="pairs",
        suite=f"{here}/dev-suite.json",
        asks=6,
        groups=0,
        seed=1,
        own=f"{here}/pairs",
    )
    for k, d in options.items():
        p.add_argument("--" + k, default=d, type=type(d))
    a = p.parse_args()
    rng = random.Random(a.seed)
    tokens = Tokens(f"{a.base}/tokenizer.json")
    segments = Segments(trained(a.base, torch.load(a.init)), tokens.pad, "cpu")

    def vectors(texts):
        return pooled(segments, [tuple(tokens.state(s)) for s in texts]).float()

    sets = sets_of(a)
    groups = groups_of_pairs(a.own, vectors) if a.of == "pairs" else groups_of_sets(sets, a.groups, rng)
    print(len(groups), "groups,", len(sets), "sets", flush=True)
    asked, told = [], []
    for (_, texts), near in zip(groups, asked_of(groups, sets, vectors, a.asks)):
        keys = {
            s: rng.sample(list(q), min(QUESTIONS, len(q)))
            for s, q in ((s, sets[s][0]["questions"]) for s in near)
        }
        qs = [
            (s, k, of_record(sets[s][0]["questions"][k], sets[s][0]["gold"][k], s))
            for s in near
            for k in keys[s]
        ]
        told.append((texts, qs, [str(len(asked) + i) for i in range(len(texts))]))
        for t in texts:
            about = dict(id=str(len(asked)), source="", family="", lang="en", state=t["en"])
            asked.append((about, [q for _, _, q in qs]))
    print(len(asked), "texts,", sum(len(q) for _, q in asked), "questions", flush=True)
    answers = {}
    for row in through_qa(a.teacher, asked, a.out):
        answers.setdefault(row["id"], []).append(row["p"])
    n = 0
    with open(a.out, "w", encoding="utf8") as f:
        for line in contrast_sets(told, answers, sets, a.of == "sets"):
            n += sum(len(t["gold"]) for t in line["texts"])
            f.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(n, "soft targets")


if __name__ == "__main__":
    main()
