"""The dev table of exported checkpoints, the untrained similarity beside them, and how often a paraphrase changes the answer.

usage: evaluate.py --dev dev.jsonl --rows DIR [--limit N] [--flips 400] name=CHECKPOINT_DIR ... [similarity=CHECKPOINT_DIR]
A name that starts with `similarity` asks the encoder's cosine alone. Raw answers are kept in --rows and reused.
"""

import argparse
import json
import os
import random
from dataclasses import replace

import metrics
from calibrate import applied
from checkpoint import Checkpoint, measured, requests

EMPTY = {"temperature": {}, "temperature_by_options": {}}


def answers(name, path, dev, kept, limit):
    file = f"{kept}/{name}.rows.json"
    if not os.path.exists(file):
        json.dump(
            measured(
                Checkpoint(path),
                requests(dev, limit),
                "similarity" if name.startswith("similarity") else "logits",
            ),
            open(file, "w"),
        )
    c = json.load(open(f"{path}/checkpoint.json")).get("calibration") or EMPTY
    return applied(json.load(open(file)), EMPTY if name.startswith("similarity") else c)


def table(results):
    """results {name: rows} -> a markdown table, a line per source and type; only questions that all of them answered."""

    def key(i, r):
        return (r["id"], i)

    indexed = {}
    for name, rows in results.items():
        seen, own = {}, {}
        for r in rows:
            k = seen[r["id"]] = seen.get(r["id"], -1) + 1
            own[key(k, r)] = r
        indexed[name] = own
    common = set.intersection(*(set(v) for v in indexed.values()))
    names = list(results)
    group = {
        "all synth": lambda r: r["source"].startswith("synth"),
        "all tasks": lambda r: not r["source"].startswith("synth"),
    }
    for s in sorted({r["source"] for rows in results.values() for r in rows}):
        group[s] = lambda r, s=s: r["source"] == s
    print("| source | measure | n | " + " | ".join(names) + " |\n|---|---|---|" + "---|" * len(names))
    for label, take in group.items():
        for kind, measure in (
            ("choice", "choice"),
            ("noul", "noul_balanced"),
            ("score", "score"),
            ("score", "score_half"),
            ("score", "score_mae"),
        ):
            own = {
                n: [r for k, r in indexed[n].items() if k in common and r["type"] == kind and take(r)]
                for n in names
            }
            if len(own[names[0]]) < 10 or (
                measure != kind and kind == "score" and not label.startswith("all")
            ):
                continue
            print(
                f"| {label} | {measure} | {len(own[names[0]])} | "
                + " | ".join(f"{metrics.measures(own[n])[measure]:.3f}" for n in names)
                + " |"
            )


def flips(model, dev, n, seed=11):
    """Share of answers that another wording of the instructions changes (argmax), over held-out tasks."""
    asked = [(r, qs) for r, qs in requests(dev) if r.get("paraphrases")]
    asked = random.Random(seed).sample(asked, min(n, len(asked)))
    changed = {}
    for r, (q, *_) in asked:
        zs = model.logits(r["state"], [q] + [replace(q, instructions=x) for x in r["paraphrases"]])
        changed.setdefault(q.type, []).extend(
            int(metrics.top(z.tolist()) != metrics.top(zs[0].tolist())) for z in zs[1:]
        )
    print("paraphrase flips:", {k: f"{metrics.mean(v):.3f} of {len(v)}" for k, v in changed.items()})


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--dev", required=True)
    p.add_argument("--rows", required=True)
    p.add_argument("--limit", type=int, default=0)
    p.add_argument("--flips", type=int, default=0)
    p.add_argument("checkpoints", nargs="+")
    a = p.parse_args()
    os.makedirs(a.rows, exist_ok=True)
    paths = dict(c.split("=", 1) for c in a.checkpoints)
    table({n: answers(n, path, a.dev, a.rows, a.limit) for n, path in paths.items()})
    for name, path in paths.items():
        if a.flips and not name.startswith("similarity"):
            print(name, end=": ")
            flips(Checkpoint(path), a.dev, a.flips)


if __name__ == "__main__":
    main()
