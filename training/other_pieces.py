"""A training checkpoint on a base that was rebuilt with other pieces: the embeddings of the pieces are the new base's (no run trains
them), all else is the checkpoint's.

usage: other_pieces.py --base NEW_BASE --init checkpoint.pt --out start.pt
"""

import argparse

import torch

from model import Encode

WORDS = "word.weight"


def main():
    p = argparse.ArgumentParser()
    for k in ("base", "init", "out"):
        p.add_argument("--" + k, required=True)
    a = p.parse_args()
    start = torch.load(a.init)
    encode = Encode(a.base, start["args"]["depths"])
    start["mean"]["encode"][WORDS] = encode.state_dict()[WORDS].clone()
    torch.save({k: start[k] for k in ("mean", "args", "step", "seen")}, a.out)


if __name__ == "__main__":
    main()
