"""Pairs as choices: which of some English texts says what a text in another language says (contrast sets, sets/README.md).

usage: picks.py --out picks.jsonl [--own pairs]
Lines that stand beside each other in a file of pairs/ are near in what they are about: they are the options, and all their translations the
texts. What a checkpoint lacks is the words of other languages for what a label says.
"""

import argparse
import json
import os
import random
from itertools import groupby

from sources import pairs_of

OPTIONS = (8, 20)  # of a set, at least and at most
ASKED = (
    ("What does the text say, in English?", "Meaning"),
    ("Which of these is meant?", "Same meaning in English"),
    ("Pick what the speaker says.", "What is said?"),
    ("What is this about?", "Which label fits?"),
)


def in_code(label):
    """A label as programs write it."""
    return "_".join("".join(c if c.isalnum() else " " for c in label.lower()).split())


def sets_of(pairs, rng):
    """Pairs of one file, near ones beside each other -> contrast sets."""
    at = 0
    while at < len(pairs):
        n = rng.randint(*OPTIONS)
        part = pairs[max(0, min(at, len(pairs) - n)) :][:n]
        at += n
        labels = list(dict.fromkeys(p["en"] for p in part))
        codes = {label: in_code(label) for label in labels}
        own, other = rng.choice(ASKED)
        told = dict(instructions=other, criteria=dict.fromkeys(codes.values()))
        texts = [
            dict(state=said, gold={"same": p["en"]}) for p in part for lang, said in p.items() if lang != "en"
        ]
        asked = dict(type="choice", instructions=own, criteria=dict.fromkeys(labels))
        yield dict(
            lang="mul",
            questions={"same": asked},
            **({"otherwise": {"same": told}} if len(set(codes.values())) == len(labels) else {}),
            texts=texts,
        )


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out", required=True)
    p.add_argument("--own", default=f"{os.path.dirname(os.path.abspath(__file__))}/pairs")
    a = p.parse_args()
    rng = random.Random(1)
    with open(a.out, "w", encoding="utf8") as f:
        for _, pairs in groupby(pairs_of(a.own), lambda x: x[0]):
            pairs = [pair for _, pair in pairs]
            for _ in range(3):  # other borders, other words
                for s in sets_of(pairs, rng):
                    f.write(json.dumps(s, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
