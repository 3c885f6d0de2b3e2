"""Matrices in 4 bits: found so that a layer puts out what it did (GPTQ, Frantar et al., 2023), a scale for each block of weights.

usage: four_bits.py --base DIR [--reader DIR] --init checkpoint.pt --data DIR --dev dev.jsonl --out four.pt
The two feed-forward matrices of every encoder layer, two thirds of an encoder, are put on a grid of 16 values a block; layers are taken
in order, each as those before it put out by then. export.py writes what lies on such a grid in 4 bits (`grid`). train.py --hold up,down
leaves these matrices where they are and trains the rest beside them.
"""

import argparse
import json
import os
import random

import torch

from model import models
from segments import Tokens, masks
from vectors import drawn

BLOCK = 128  # weights of a row that share a scale
LOWEST, HIGHEST = -8, 7
TOKENS = 8192  # of a batch of texts
LONGEST = 400  # tokens of a text
DAMP = 0.01  # of the mean curvature, added to each


def snapped(w, scale):
    """w [n,k] on the grid of scales [n,1]."""
    return (w / scale).round().clamp(LOWEST, HIGHEST) * scale


def best_scale(w):
    """w [n,block] -> [n,1]: the scale of least squared error, of some that cut the largest weights off."""
    full = w.abs().amax(1, keepdim=True).clamp(min=1e-8) / HIGHEST
    scales = torch.stack([full * k for k in torch.linspace(0.5, 1, 21)])
    errors = torch.stack([(snapped(w, s) - w).square().sum(1, keepdim=True) for s in scales])
    return scales.gather(0, errors.argmin(0, keepdim=True))[0]


def quantised(w, curvature):
    """w [n,k] on a grid; `curvature` [k,k]: the products of what comes in, summed over tokens. What rounding a column does to the outputs is
    taken up by the columns after it."""
    w, out = w.clone(), torch.empty_like(w)
    damped = curvature + DAMP * curvature.diagonal().mean() * torch.eye(len(curvature))
    inverse = torch.linalg.cholesky(torch.cholesky_inverse(torch.linalg.cholesky(damped)), upper=True)
    for start in range(0, w.size(1), BLOCK):
        end = start + BLOCK
        scale, errors = best_scale(w[:, start:end]), torch.empty(len(w), BLOCK)
        for j in range(start, end):
            out[:, j : j + 1] = snapped(w[:, j : j + 1], scale)
            error = (w[:, j] - out[:, j]) / inverse[j, j]
            w[:, j + 1 : end] -= error[:, None] * inverse[j, j + 1 : end]
            errors[:, j - start] = error
        w[:, end:] -= errors @ inverse[start:end, end:]
    return out


def grid(w, block=BLOCK):
    """w [n,k] -> whole numbers from LOWEST to HIGHEST [n,k], scales [n,k/block], if that is what it is made of; None if it is not."""
    if w.size(1) % block:
        return None
    blocks = w.double().unflatten(1, (-1, block))
    top = blocks.abs().amax(-1, keepdim=True).clamp(min=1e-12)
    found = torch.zeros_like(top)
    for k in range(1, 1 - LOWEST):  # from the widest grid to the finest
        whole = blocks / (top / k)
        fits = ((whole - whole.round()).abs() < 1e-3).all(-1, keepdim=True) & (
            whole.amax(-1, True) < HIGHEST + 0.5
        )
        found = torch.where((found == 0) & fits, top / k, found)
    if not found.all():
        return None
    return (blocks / found).round().flatten(1).to(torch.int8), found[..., 0].float()


def batches(rows, encode, pad):
    """Token ids -> [(what the first layer takes [n,t,d], bias, which are tokens [n,t])], texts of like length together."""
    rows, out = sorted(rows, key=len), []
    while rows:
        n = next((k for k in range(len(rows), 1, -1) if k * len(rows[k - 1]) <= TOKENS), 1)
        part, rows = rows[:n], rows[n:]
        width = len(part[-1])
        ids = torch.tensor([list(r) + [pad] * (width - len(r)) for r in part])
        mask = masks([len(r) for r in part], width, "cpu")
        x = encode.lower(ids, mask, len(encode.layers))[:, 0]
        led = encode.led(mask)
        out.append((x, encode.bias(led), led.bool()))
    return out


@torch.no_grad()
def put_on_grid(encode, texts):
    """Every layer's `up` and `down`, by what `batches` gives of texts; prints how far each is off."""
    for at, layer in enumerate(encode.layers):
        for name in ("up", "down"):
            matrix, curvature = getattr(layer, name), 0
            for x, bias, tokens in texts:
                came = []
                hook = matrix.register_forward_hook(lambda _, given, __, came=came: came.append(given[0]))
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    layer(x, bias)
                hook.remove()
                rows = came[0][tokens].float()
                curvature = curvature + rows.T @ rows
            before = matrix.weight.data
            matrix.weight.data = quantised(before, curvature)
            off = (matrix.weight.data - before) @ curvature * (matrix.weight.data - before)
            of = before @ curvature * before
            print(
                f"layer {at} {name}: {float((off.sum() / of.sum()).sqrt()):.3f} of what it puts out",
                flush=True,
            )
        with torch.autocast("cpu", dtype=torch.bfloat16):
            texts = [(layer(x, bias).float(), bias, tokens) for x, bias, tokens in texts]


def main():
    p = argparse.ArgumentParser()
    here = os.path.dirname(os.path.abspath(__file__))
    options = dict(base="", reader="", init="", data="", dev="", suite=f"{here}/dev-suite.json", shares="")
    for k, d in (options | dict(out="", draws=500, seed=1)).items():
        p.add_argument("--" + k, default=d, type=type(d))
    a = p.parse_args()
    start = torch.load(a.init, map_location="cpu")
    encode, _ = models(a.base, start["args"]["depths"], a.reader)
    encode.load_state_dict(start["mean"]["encode"])
    tokens = Tokens(f"{a.base}/tokenizer.json")
    texts = dict.fromkeys(
        tuple(getattr(tokens, kind)(s))[:LONGEST] for kind, s in drawn(a, random.Random(a.seed))
    )
    print(len(texts), "texts,", sum(map(len, texts)), "tokens", flush=True)
    with torch.no_grad():
        put_on_grid(encode.eval(), batches(list(texts), encode, tokens.pad))
    start["mean"]["encode"] = encode.state_dict()
    torch.save({k: start[k] for k in ("mean", "args", "step", "seen")}, a.out)


if __name__ == "__main__":
    main()
