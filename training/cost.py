"""What a checkpoint costs: reading a state of 200 tokens, deciding 8 yes/no questions about it, tokens a second, states of other lengths.

usage: cost.py CHECKPOINT_DIR [--threads 1] [--runs 30]
Prints medians. What is compared is timed in turns, so that both have the same neighbours on a busy machine.
"""

import argparse
import time

import numpy as np

from checkpoint import Checkpoint
from sources import Question

ASKED = [
    "Does the customer ask for a refund?",
    "Is the message urgent?",
    "The writer is angry.",
    "Is a phone number given?",
    "Was the order delivered late?",
    "Does the customer threaten to cancel?",
    "Is this spam?",
    "A discount is requested.",
]


LENGTHS = (16, 40, 480, 600, 1100, 1900)  # tokens; the window holds a question too


def encoded(c, length):
    """A state of so many tokens, as `encode` takes it."""
    said = c.tokens.state("the bank closed my account today please call me back " * (length // 10 + 1))
    ids = np.array([said[: length - 1] + [c.tokens.sep]], np.int64)
    return {"input_ids": ids, "attention_mask": np.ones_like(ids)}


def asked(c, prefix, encoded):
    """What `decide` takes of a question set and a state."""
    hidden, pooled = c.encode.run(["hidden", "pooled"], encoded)
    return dict(prefix, state_hidden=hidden, state_mask=encoded["attention_mask"], state_pooled=pooled)


def median_ms(runs, n):
    """Medians of n turns, in each of which every one of `runs` is timed once, after a turn that is not."""
    times = np.zeros((n + 1, len(runs)))
    for turn in times:
        for i, run in enumerate(runs):
            t = time.perf_counter()
            run()
            turn[i] = time.perf_counter() - t
    return [float(x) * 1e3 for x in np.median(times[1:], 0)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("checkpoint")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--runs", type=int, default=30)
    a = p.parse_args()
    c = Checkpoint(a.checkpoint, a.threads)
    questions = [Question("noul", q, [("false", None), ("true", None)], [1, 0]) for q in ASKED]
    prefix = c.prefix(questions)
    one = encoded(c, 200)
    rows = {k: np.repeat(v, 16, 0) for k, v in one.items()}
    feed = asked(c, prefix, one)
    read, decide, asking = median_ms(
        [
            lambda: c.encode.run(None, one),
            lambda: c.decide.run(["logits"], feed),
            lambda: (c.kept.clear(), c.prefix(questions)),
        ],
        a.runs,
    )
    (many,) = median_ms([lambda: c.encode.run(None, rows)], max(3, a.runs // 8))
    print(
        f"state of 200 tokens {read:.1f} ms, 8 questions of it {decide:.1f} ms ({decide / read:.2f} of the reading), "
        f"question set once {asking:.1f} ms, {16 * 200 / many * 1e3:.0f} tokens/s in batches of 16"
    )
    for length in LENGTHS:
        if length <= c.manifest["window"]:
            one = encoded(c, length)
            feed = asked(c, prefix, one)
            read, decide = median_ms(
                [
                    lambda one=one: c.encode.run(None, one),
                    lambda feed=feed: c.decide.run(["logits"], feed),
                ],
                a.runs // 3,
            )
            print(f"state of {length} tokens {read:.1f} ms, 8 questions of it {decide:.1f} ms")


if __name__ == "__main__":
    main()
