"""Texts with the unit vectors they should have: those that an English teacher gives their English side, turned into the student's space,
so that joint layers trained on the student's vectors go on where they were (Reimers and Gurevych, "Making monolingual sentence
embeddings multilingual using knowledge distillation", 2020). train.py --vectors trains on them beside questions.

usage: vectors.py --base STUDENT --init student.pt --teacher TEACHER --taught teacher.pt --data DIR --dev dev.jsonl --text en.txt.gz
       --parallel DIR --pick sib200_pairs.jsonl.gz --out vectors.pt
English: states, heads and options as training draws them, lines, and one side of every third pair. Other languages: the other side of
pairs (English TAB other), of picked translations and of what is in pairs/; of all of them at most --texts (pairs/ is taken whole), of up
to --longest tokens. The turn is the rotation that brings the teacher's vectors nearest to what the student gives the same English texts
(orthogonal Procrustes).
"""

import argparse
import glob
import gzip
import json
import os
import random

import torch

from draw import Draw
from model import models
from segments import Segments, Tokens
from sources import pairs_of, read, text


def lines_of(path, n, rng):
    lines = [line.rstrip("\n") for line in gzip.open(path, "rt", encoding="utf8")]
    return rng.sample(lines, min(n, len(lines)))


def drawn(a, rng):
    """-> [(kind, text)] of states, heads and options, in the proportions of training."""
    tasks, rows = read(a.data, "en")
    seen = {text(json.loads(line)["state"]) for line in open(a.dev, encoding="utf8")}
    draw = Draw(tasks, rows, json.load(open(a.suite)), seen, rng, json.loads(a.shares or "null"), 500)
    out = []
    for _ in range(a.draws):
        for state, qs in draw.draw():
            out.append(("state", state))
            for q in qs:
                if q.type == "choice":
                    out += [("head", q.head()), *(("option", o) for o in q.option_texts()[:12])]
    return out


def written(folder):
    """What is in pairs/ -> [(kind, English text, text of the same meaning or None)]; a text of up to four words is an option too."""
    out = []
    for _, pair in pairs_of(folder):
        en, *others = pair.values()  # English leads
        kinds = ("state", "option") if len(en.replace("_", " ").split()) <= 4 else ("state",)
        out += [(k, en, other) for k in kinds for other in (None, *others)]
    return out


def gathered(a, rng):
    """-> [(kind, English text, text of the same meaning or None)]"""
    out = [(k, s, None) for k, s in drawn(a, rng)]
    out += [("state", s[:400], None) for s in lines_of(a.text, a.lines, rng)]
    for path in sorted(glob.glob(f"{a.parallel}/*.tsv.gz")):
        for i, pair in enumerate(lines_of(path, a.pairs, rng)):
            en, other = pair.split("\t")[:2]
            out.append((("state", "state", "option")[i % 3], en, other))
            if i % 3 == 0:
                out.append(("state", en, None))
    for line in gzip.open(a.pick, "rt", encoding="utf8"):
        r = json.loads(line)
        if r["task"] == "sib200.pick_translation" and r["lang"] != "en" and r.get("split") != "dev":
            out.append(("state", r["gold"], r["state"]))
    return list(dict.fromkeys(out))


def trained(base, start):
    """The encoder of a training checkpoint."""
    a = start["args"]
    encode, _ = models(base, a["depths"], a.get("reader", ""))
    encode.load_state_dict(start["mean"]["encode"])
    return encode


def pooled(segments, rows, at_once=512):
    """Token ids -> their unit vectors [n,d], read anew."""
    out = []
    for i in range(0, len(rows), at_once):
        out.append(segments.whole(rows[i : i + at_once])[1])
        segments.kept.clear()
        segments.bytes = 0
    return torch.cat(out)


def turn(teacher, student):
    """The rotation [d,d] of vectors [n,d] that brings them nearest to others [n,d]."""
    u, _, v = torch.linalg.svd(teacher.T @ student)
    return u @ v


@torch.no_grad()
def main():
    p = argparse.ArgumentParser()
    here = os.path.dirname(os.path.abspath(__file__))
    options = dict(
        base="", init="", teacher="", taught="", data="", dev="", suite=f"{here}/dev-suite.json", out=""
    )
    options |= dict(text="", parallel="", pick="", shares="", draws=5000, lines=20000, pairs=3000)
    options |= dict(longest=256, texts=200000, half=0, seed=1, own=f"{here}/pairs")
    for k, d in options.items():
        p.add_argument("--" + k, default=d, type=type(d))
    a = p.parse_args()
    rng = random.Random(a.seed)
    told = gathered(a, rng)
    told = list(dict.fromkeys(written(a.own) + rng.sample(told, min(a.texts, len(told)))))
    own, theirs = Tokens(f"{a.base}/tokenizer.json"), Tokens(f"{a.teacher}/tokenizer.json")

    def row(tokens, kind, s):
        return tuple(getattr(tokens, kind)(s))

    english = list(dict.fromkeys(r for k, en, _ in told if len(r := row(theirs, k, en)) <= a.longest))
    at = {r: i for i, r in enumerate(english)}
    rows = [
        (row(own, k, en if other is None else other), at.get(row(theirs, k, en)), other is None)
        for k, en, other in told
    ]
    rows = [(r, i, e) for r, i, e in rows if i is not None and len(r) <= a.longest]
    print(
        len(rows),
        "texts,",
        sum(e for _, _, e in rows),
        "of them English;",
        len(english),
        "vectors",
        flush=True,
    )
    student, teacher = (trained(b, torch.load(c)) for b, c in ((a.base, a.init), (a.teacher, a.taught)))
    vectors = pooled(Segments(teacher, theirs.pad, "cpu", half=bool(a.half)), english)
    sample = [(r, i) for r, i, e in rows if e]
    sample = random.Random(0).sample(sample, min(4000, len(sample)))
    as_is = pooled(Segments(student, own.pad, "cpu", half=bool(a.half)), [r for r, _ in sample])
    turned = vectors @ turn(vectors[[i for _, i in sample]], as_is)
    near = (turned[[i for _, i in sample]] * as_is).sum(-1).mean()
    print(f"cosine of the student's vectors and the turned ones: {near:.3f}")
    torch.save(
        {"rows": [r for r, _, _ in rows], "at": [i for _, i, _ in rows], "vectors": turned.half()}, a.out
    )


if __name__ == "__main__":
    main()
