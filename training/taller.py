"""A start for all layers of a wide encoder with narrow questions, from a run that read with its lower ones and had a narrow encoder beside them:
lower layers, their maps and the joint layers go on as they were, the upper layers are the base's. What a text is about is told by the mean of
the last output now, mapped near to the narrow encoder's vectors: the mean of a rotation, which keeps distances, and of a regression.

usage: taller.py --base WIDE --reader NARROW --lower lower.pt --taught narrow.pt --data DIR --dev dev.jsonl --text en.txt.gz --out start.pt
lower.pt: a checkpoint of training as it was at commit 45088c4. Both tokenizers must know BERT's uncased pieces.
"""

import argparse
import os
import random

import torch

from model import Encode, models
from segments import Segments, Tokens
from vectors import drawn, lines_of, pooled, trained

LONGEST = 256  # tokens of a text, at most


def regression(x, y, keep=1e-3):
    """Ridge regression of y [n,e] on x [n,d] -> [e,d]."""
    gram = x.T @ x
    return torch.linalg.solve(gram + keep * gram.diagonal().mean() * torch.eye(len(gram)), x.T @ y).T


def turn(teacher, student):
    """The rotation [d,d] of vectors [n,d] that brings them nearest to others [n,d]."""
    u, _, v = torch.linalg.svd(teacher.T @ student)
    return u @ v


def rotation(x, y):
    """x [n,d] on its principal axes, turned towards y [n,e] -> [e,d]."""
    axes = torch.linalg.svd(x, full_matrices=False)[2][: y.size(1)]
    return (axes.T @ turn(x @ axes.T, y)).T


def lowered(encode, before):
    """The encoder's state with what the run before had of it; the halves of its maps that read the upper layers are zero."""
    own = encode.state_dict()
    for k, v in before.items():
        if k.startswith("narrow.") and k.endswith("weight"):
            own[k] = torch.cat([v, torch.zeros_like(v)], 1)
        elif k.startswith(("layers.", "narrow.", "ln.", "pos.")):
            own[k] = v
    return own


@torch.no_grad()
def main():
    p = argparse.ArgumentParser()
    here = os.path.dirname(os.path.abspath(__file__))
    for k, d in dict(
        base="",
        reader="",
        lower="",
        taught="",
        data="",
        dev="",
        suite=f"{here}/dev-suite.json",
        text="",
        out="",
        shares="",
        draws=1500,
        lines=4000,
        half=0,
        seed=1,
    ).items():
        p.add_argument("--" + k, default=d, type=type(d))
    a = p.parse_args()
    before = torch.load(a.lower)["mean"]
    encode, decide = models(a.base, 3, a.reader)
    encode.load_state_dict(lowered(encode, before["encode"]))
    decide.load_state_dict(before["decide"])
    plain = Encode(a.base, 3)
    plain.load_state_dict(encode.state_dict() | {"centre": plain.centre}, strict=False)
    rng = random.Random(a.seed)
    told = drawn(a, rng) + [("state", s[:400]) for s in lines_of(a.text, a.lines, rng)]
    both = []
    for e, base in ((plain, a.base), (trained(a.reader, torch.load(a.taught)), a.reader)):
        tokens = Tokens(f"{base}/tokenizer.json")
        rows = [tuple(getattr(tokens, kind)(s)[:LONGEST]) for kind, s in told]
        both.append(pooled(Segments(e.eval(), tokens.pad, "cpu", half=bool(a.half)), rows).float())
    wide, narrow = both
    encode.about.weight.copy_(rotation(wide, narrow) + regression(wide, narrow))
    near = torch.nn.functional.cosine_similarity(wide @ encode.about.weight.T, narrow).mean()
    print(f"{len(told)} texts, cosine of their vectors to the narrow encoder's: {near:.3f}")
    mean = {"encode": encode.state_dict(), "decide": decide.state_dict()}
    torch.save({"mean": mean, "args": {"depths": 3, "reader": a.reader}, "step": 0, "seen": 0}, a.out)


if __name__ == "__main__":
    main()
