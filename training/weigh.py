"""What each of several checkpoints should count for where their logits are added up (export.py --weights), fitted on one half of
the held-out tasks, records and contrast sets; shows what that does on the other half.

usage: weigh.py --dev dev.jsonl [--limit REQUESTS] --rows DIR [--together rows.json] NAME=CHECKPOINT_DIR NAME=CHECKPOINT_DIR ...
Raw answers are kept in --rows and taken from there where they exist; --together: where to write those added up, for calibrate.py.
Cross-entropy is convex in the weights: Newton's method finds them.
"""

import argparse
import json
import os

import torch

import metrics
from calibrate import half
from checkpoint import Checkpoint, measured, requests, softmax

TYPES = ("choice", "score", "noul")  # in the order of their numbers
TIE = 1.0  # answers' worth of pull towards equal weights


def logits(name, path, a):
    """-> {(id of a request, place of a question in it): row}"""
    kept = f"{a.rows}/{name}.json"
    if not os.path.exists(kept):
        json.dump(measured(Checkpoint(path), requests(a.dev, a.limit)), open(kept, "w"))
    return metrics.by_question(json.load(open(kept)))


def loss(w, rows):
    """Cross-entropy of rows ([k,m] logits, [m] gold) at weights [k], a mean."""
    total = sum(-(gold * torch.log_softmax(w @ z, -1)).sum() for z, gold in rows)
    return (total + TIE * ((w - w.mean()) ** 2).sum()) / len(rows)


def fitted(rows, k):
    w = torch.full((k,), 1.0 / k, dtype=torch.double)
    for _ in range(12):
        w = w.requires_grad_(True)
        g = torch.autograd.grad(loss(w, rows), w)[0]
        h = torch.autograd.functional.hessian(lambda x: loss(x, rows), w.detach())
        w = w.detach() - torch.linalg.solve(h, g)
    return w


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--dev", required=True)
    p.add_argument("--rows", required=True)
    p.add_argument("--limit", type=int, default=0)
    p.add_argument("--together", default="")
    p.add_argument("checkpoints", nargs="+")
    a = p.parse_args()
    os.makedirs(a.rows, exist_ok=True)
    of = [logits(*c.split("=", 1), a) for c in a.checkpoints]
    both = sorted(set.intersection(*map(set, of)))
    asked = [[rows[k] for rows in of] for k in both]
    weights, together = {}, []
    for kind in TYPES:
        own = [rs for rs in asked if rs[0]["type"] == kind]
        pairs = [
            (torch.tensor([r["z"] for r in rs], dtype=torch.double), torch.tensor(rs[0]["gold"]).double())
            for rs in own
        ]
        weights[kind] = fitted([x for x, rs in zip(pairs, own) if half(rs[0]) == 0], len(of))
        for (z, _), rs in zip(pairs, own):
            added = weights[kind] @ z
            together.append(dict(rs[0], z=added.tolist(), p=softmax(added.numpy()).tolist()))
    if a.together:
        json.dump(together, open(a.together, "w"))
    for name, rows in [
        *((c.split("=")[0], [rs[i] for rs in asked]) for i, c in enumerate(a.checkpoints)),
        ("added up", together),
    ]:
        print(f"{name}:", metrics.line([r for r in rows if half(r) == 1]))
    columns = zip(*(weights[kind].tolist() for kind in TYPES))
    print("--weights", ":".join(",".join(f"{x:.3f}" for x in column) for column in columns))


if __name__ == "__main__":
    main()
