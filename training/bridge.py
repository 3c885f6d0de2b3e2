"""A start for a wide encoder with narrow questions: the narrow encoder beside it, in its pieces, and the maps from what it makes of a
token to what the narrow one makes of it, fitted by least squares, so that joint layers trained on the narrow one can go on where they were.

usage: bridge.py --base WIDE --reader NARROW --init narrow.pt --text texts.txt.gz --out bridge.pt
Both tokenizers must cut alike (those of MPNet and of BERT's uncased models do; only their ids differ).
"""

import argparse
import gzip

import torch

from model import Encode, models
from segments import Segments, Tokens


def fit(x, y, keep=1e-3):
    """Ridge regression of y [n,e] on x [n,d] -> weight [e,d], bias [e], share of the variance that it explains."""
    mx, my = x.mean(0), y.mean(0)
    x, y = x - mx, y - my
    gram = x.T @ x
    w = torch.linalg.solve(gram + keep * gram.diagonal().mean() * torch.eye(len(gram)), x.T @ y).T
    return w, my - w @ mx, float(1 - ((y - x @ w.T) ** 2).sum() / (y**2).sum())


def trained(reader, start):
    """The narrow encoder of a training checkpoint."""
    narrow = Encode(reader, start["args"]["depths"])
    narrow.load_state_dict(start["mean"]["encode"])
    return narrow


def spell(beside, narrow, tokens, own):
    """The narrow encoder's weights, its pieces by the ids that the wide one's tokenizer gives them."""
    named = {tokens.special[k]: own.special[k] for k in own.special}
    pieces = sorted(tokens.tok.get_vocab().items(), key=lambda x: x[1])
    at = [own.tok.token_to_id(named.get(piece, piece)) for piece, _ in pieces]
    unknown = own.tok.token_to_id("[UNK]")
    w = dict(narrow.state_dict())
    w["word.weight"] = w["word.weight"][[unknown if i is None else i for i in at]]
    beside.load_state_dict(w)
    print(sum(i is None for i in at), "of", len(at), "pieces have no counterpart")


def main():
    p = argparse.ArgumentParser()
    for k, d in dict(base="", reader="", init="", text="", out="", lines=4000, threads=2, half=0).items():
        p.add_argument("--" + k, default=d, type=type(d))
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    start = torch.load(a.init)
    depths = start["args"]["depths"]
    narrow = trained(a.reader, start)
    wide, decide = models(a.base, depths, a.reader)
    decide.load_state_dict(start["mean"]["decide"])
    spell(wide.beside, narrow, Tokens(f"{a.base}/tokenizer.json"), Tokens(f"{a.reader}/tokenizer.json"))
    lines = [line.strip()[:400] for line in gzip.open(a.text, "rt", encoding="utf8")]
    lines = lines[:: max(1, len(lines) // a.lines)]
    read = []
    for encode, base in ((wide, a.base), (narrow, a.reader)):
        tokens = Tokens(f"{base}/tokenizer.json")
        # a third each: states, heads, options
        kinds = (tokens.state, tokens.head, tokens.option)
        segments = Segments(encode, tokens.pad, "cpu", limit_mb=20000, half=bool(a.half))
        rows = [tuple(kinds[i % 3](s)) for i, s in enumerate(lines)]
        read.append([(x[1:] if encode.beside else x[:-1]).float() for x, *_ in segments.get(rows)])
    same = [(x, y) for x, y in zip(*read) if x.size(1) == y.size(1)]
    print(len(same), "of", len(lines), "texts are cut alike", flush=True)
    with torch.no_grad():
        for i, to in enumerate(wide.narrow):
            w, b, told = fit(*(torch.cat([pair[k][i] for pair in same]) for k in (0, 1)))
            to.weight.copy_(w), to.bias.copy_(b)
            print(f"depth {i}: {told:.3f} of the variance", flush=True)
    torch.save(
        {
            "mean": {"encode": wide.state_dict(), "decide": decide.state_dict()},
            "args": {"depths": depths, "reader": a.reader},
            "step": 0,
            "seen": 0,
        },
        a.out,
    )


if __name__ == "__main__":
    main()
