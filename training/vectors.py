"""Texts with the unit vectors they should have: those of their English side (Reimers and Gurevych, "Making monolingual sentence embeddings
multilingual using knowledge distillation", 2020). English keeps the vectors it has, so that joint layers trained on them go on where they
were; every other language is to come to where English is. train.py --vectors trains on them, beside questions or alone.

usage: vectors.py --base DIR --init start.pt --data DIR --dev dev.jsonl --text en.txt.gz --parallel DIR --pick sib200_pairs.jsonl.gz --out vectors.pt
English: states, heads and options as training draws them, lines, and one side of every third pair. Other languages: the other side of
pairs (English TAB other), of picked translations and of what is in pairs/; of all of them at most --texts (pairs/ is taken whole), of up
to --longest tokens.
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


@torch.no_grad()
def main():
    p = argparse.ArgumentParser()
    here = os.path.dirname(os.path.abspath(__file__))
    options = dict(base="", init="", data="", dev="", suite=f"{here}/dev-suite.json", out="")
    options |= dict(text="", parallel="", pick="", shares="", draws=5000, lines=20000, pairs=3000)
    options |= dict(longest=256, texts=200000, half=0, seed=1, own=f"{here}/pairs")
    for k, d in options.items():
        p.add_argument("--" + k, default=d, type=type(d))
    a = p.parse_args()
    rng = random.Random(a.seed)
    told = gathered(a, rng)
    told = list(dict.fromkeys(written(a.own) + rng.sample(told, min(a.texts, len(told)))))
    tokens = Tokens(f"{a.base}/tokenizer.json")

    def row(kind, s):
        return tuple(getattr(tokens, kind)(s))

    sides = [(row(k, en), row(k, en if other is None else other)) for k, en, other in told]
    sides = [pair for pair in sides if max(map(len, pair)) <= a.longest]
    english = list(dict.fromkeys(en for en, _ in sides))
    at = {r: i for i, r in enumerate(english)}
    print(
        len(sides),
        "texts,",
        sum(en == r for en, r in sides),
        "of them English;",
        len(english),
        "vectors",
        flush=True,
    )
    encode = trained(a.base, torch.load(a.init))
    vectors = pooled(Segments(encode, tokens.pad, "cpu", half=bool(a.half)), english)
    torch.save(
        {"rows": [r for _, r in sides], "at": [at[en] for en, _ in sides], "vectors": vectors.half()}, a.out
    )


if __name__ == "__main__":
    main()
