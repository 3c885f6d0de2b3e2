"""How far a checkpoint reads: records of the dev suite put at the start, the middle and the end of texts about other things.

usage: reach.py --dev dev.jsonl --filler text.txt.gz [--records 60] [--tokens 0,256,500,1000,1900] CHECKPOINT_DIR
0 tokens: the record alone. Prints the share of right answers, a line a length, a column a place; all about the same questions.
"""

import argparse
import gzip
import random

import metrics
from checkpoint import Checkpoint, measured, requests
from sources import text

PLACES = ("start", "middle", "end")


def placed(state, place, size, lines, tokens, rng):
    """The state among lines of another text, some `size` tokens in all."""
    room = size - len(tokens.ids(state))
    at = rng.randrange(len(lines) - 1000)
    parts = []
    for line in lines[at : at + 1000]:
        room -= len(tokens.ids(line)) + 1
        if room < 0:
            break
        parts.append(line)
    k = {"start": 0, "middle": len(parts) // 2, "end": len(parts)}[place]
    return "\n".join([*parts[:k], state, *parts[k:]])


def asked_about(asked, records=0):
    """Of [(request, questions)] the short records, or a seeded sample of so many."""
    short = [
        (r, qs) for r, qs in asked if metrics.kind_of(r["source"]) == "synth" and len(text(r["state"])) < 500
    ]
    return random.Random(4).sample(short, min(records, len(short))) if records else short


def lines_of(filler):
    with gzip.open(filler, "rt", encoding="utf8") as f:
        return [line.strip() for line in f]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--dev", required=True)
    p.add_argument("--filler", required=True)
    p.add_argument("--records", type=int, default=60)
    p.add_argument("--tokens", default="0,256,500,1000,1900")
    p.add_argument("checkpoint")
    a = p.parse_args()
    model = Checkpoint(a.checkpoint)
    lines = lines_of(a.filler)
    asked = asked_about(requests(a.dev), a.records)
    print(f"{len(asked)} records, {sum(len(qs) for _, qs in asked)} questions")
    for size in map(int, a.tokens.split(",")):
        if size > model.manifest["window"]:
            continue
        said = []
        for place in PLACES if size else PLACES[:1]:
            rng = random.Random(size)
            part = [
                (
                    dict(
                        r,
                        state=placed(text(r["state"]), place, size, lines, model.tokens, rng)
                        if size
                        else r["state"],
                    ),
                    qs,
                )
                for r, qs in asked
            ]
            rows = [r for r in measured(model, part) if metrics.decided(r)]
            said.append(f"{place} {metrics.mean(map(metrics.hit, rows)):.3f} of {len(rows)}")
        print(f"{size or 'alone':>6}", "  ".join(said), flush=True)


if __name__ == "__main__":
    main()
