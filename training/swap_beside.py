"""A checkpoint of the wide encoder with another narrow one beside it, as it was trained since: nothing else changes, nothing is trained.

usage: swap_beside.py --base WIDE --reader NARROW --wide wide.pt --narrow narrow.pt --out swapped.pt
"""

import argparse

import torch

from bridge import spell, trained
from model import models
from segments import Tokens


def main():
    p = argparse.ArgumentParser()
    for k in ("base", "reader", "wide", "narrow", "out"):
        p.add_argument("--" + k, required=True)
    a = p.parse_args()
    kept, new = (torch.load(f, map_location="cpu") for f in (a.wide, a.narrow))
    depths = new["args"]["depths"]
    wide, _ = models(a.base, depths, a.reader)
    wide.load_state_dict(kept["mean"]["encode"])
    tokens, own = (Tokens(f"{d}/tokenizer.json") for d in (a.base, a.reader))
    spell(wide.beside, trained(a.reader, new), tokens, own)
    torch.save(
        {
            "mean": {"encode": wide.state_dict(), "decide": kept["mean"]["decide"]},
            "args": {"depths": depths, "reader": a.reader},
            "step": kept["step"],
            "seen": kept["seen"],
        },
        a.out,
    )


if __name__ == "__main__":
    main()
