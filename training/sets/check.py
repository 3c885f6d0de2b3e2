"""Finds faults in contrast sets and shows how their answers are spread.

usage: check.py FILE.jsonl ...
"""

import json
import sys
from collections import Counter


def fits(question, gold):
    """Whether the gold is an answer that the question has."""
    if question["type"] == "choice":
        return gold in question["criteria"]
    top = 1 if question["type"] == "noul" else len(question["criteria"]) - 1
    return isinstance(gold, int | float) and 0 <= gold <= top


def faults(s):
    for where in ("questions", "otherwise"):
        for k, q in s.get(where, {}).items():
            if s["questions"].get(k, {}).get("type") == "choice" and not isinstance(q.get("criteria"), dict):
                yield f"{k} in {where}: options are names with a description or null each, not a list"
    for j, t in enumerate(s["texts"]):
        if not t["gold"]:
            yield f"text {j}: nothing is asked about it"
        for k, g in t["gold"].items():
            if k not in s["questions"]:
                yield f"text {j}: {k} is not asked"
            elif not fits(s["questions"][k], g):
                yield f"text {j}: {g!r} does not answer {k}"
    for k, q in s.get("otherwise", {}).items():
        asked = s["questions"].get(k)
        if not asked:
            yield f"{k} is asked in other words only"
        elif asked["type"] != "noul" and len(q.get("criteria") or ()) != len(asked["criteria"]):
            yield f"{k} has other options in other words"
        elif q.get("turned") and asked["type"] != "noul":
            yield f"{k}: only yes/no can be turned"
    for k in s["questions"]:
        if len({str(t["gold"][k]) for t in s["texts"] if k in t["gold"]}) < 2:
            yield f"{k} has one answer for all texts"


def main():
    found = 0
    for path in sys.argv[1:]:
        asked, texts = Counter(), 0
        i = 0
        for i, line in enumerate(open(path, encoding="utf8"), 1):
            s = json.loads(line)
            for fault in faults(s):
                found += 1
                print(f"{path}:{i}: {fault}")
            texts += len(s["texts"])
            for t in s["texts"]:
                for k, g in t["gold"].items():
                    kind = s["questions"].get(k, {}).get("type")
                    asked[kind if kind == "choice" else f"{kind} {g}"] += 1
        print(path, i, "sets,", texts, "texts;", dict(sorted(asked.items())))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
