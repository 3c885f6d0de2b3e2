"""A checkpoint of the wide encoder with another narrow one beside it, as it was trained since: nothing else changes, nothing is trained.

usage: swap_beside.py --base WIDE --reader NARROW --wide wide.pt --narrow narrow.pt --out swapped.pt
"""

import argparse

import torch

from bridge import spell
from model import Encode, models
from segments import Tokens


def main():
    p = argparse.ArgumentParser()
    for k in ("base", "reader", "wide", "narrow", "out"):
        p.add_argument("--" + k, required=True)
    a = p.parse_args()
    kept, new = (torch.load(f, map_location="cpu") for f in (a.wide, a.narrow))
    depths = new["args"]["depths"]
    narrow = Encode(a.reader, depths)
    narrow.load_state_dict(new["mean"]["encode"])
    wide, _ = models(a.base, depths, a.reader)
    wide.load_state_dict(kept["mean"]["encode"])
    spell(wide.beside, narrow, Tokens(f"{a.base}/tokenizer.json"), Tokens(f"{a.reader}/tokenizer.json"))
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
