"""Labelled decisions on disk (data/FORMAT.md) -> typed questions about states. Drawing and weighting are left to draw.py."""

import glob
import gzip
import json
import math
import os
from dataclasses import dataclass

SETS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sets")
QTYPE = {"choice": 0, "score": 1, "noul": 2}
NO, YES = "no, the statement does not hold", "yes, the statement holds"


@dataclass(slots=True)
class Question:
    """One typed question with its gold: options are (label, description or None), target a distribution over them. Two with one `tie`
    ask the same thing in different words, options in the same places; `turned`: this one asks the opposite."""

    type: str
    instructions: str
    options: list
    target: list
    task: str = ""
    tie: int | None = None
    turned: bool = False

    def head(self):
        return f"{self.type} question: {self.instructions}"

    def option_texts(self):
        """What the model is shown (contract, section 5)."""
        if self.type == "choice":
            return [f"{k}: {d}" if d else k for k, d in self.options]
        if self.type == "score":
            return [f"level {k}: {d}" if d else f"level {k}" for k, d in self.options]
        return [f"{k}: {d or (NO, YES)[i]}" for i, (k, d) in enumerate(self.options)]

    def wire(self):
        """The question as a request carries it."""
        q = {"type": self.type, "instructions": self.instructions}
        if self.type == "choice":
            q["criteria"] = dict(self.options)
        elif self.type == "score":
            q["criteria"] = [d for _, d in self.options]
        elif any(d for _, d in self.options):
            q["criteria"] = {k: d for k, d in self.options if d}
        return q


def text(value):
    """JSON values are shown as compact one-line JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def distribution(kind, gold, keys):
    """Gold label, level (or a fraction between two), probability, or map of shares -> a distribution over the options."""
    n = len(keys)
    if isinstance(gold, dict):
        shares = [float(gold.get(k, 0)) for k in keys]
        total = sum(shares) or 1.0
        return [s / total for s in shares]
    if kind == "choice":
        return [float(k == gold) for k in keys]
    if kind == "noul":
        return [1 - float(gold), float(gold)]
    level = min(max(float(gold), 0), n - 1)
    low = int(math.floor(level))
    target = [0.0] * n
    target[low] += 1 - (level - low)
    if level > low:
        target[low + 1] += level - low
    return target


def of_record(kind_question, gold, task):
    """A question written out in full (synth_*)."""
    q, kind = kind_question, kind_question["type"]
    criteria = q.get("criteria")

    def said(v):
        return text(v) if v is not None else None

    if kind == "choice":
        options = [(k, said(v)) for k, v in criteria.items()]
    elif kind == "score":
        options = [(str(i), said(v)) for i, v in enumerate(criteria)]
    else:
        options = [(k, said((criteria or {}).get(k))) for k in ("false", "true")]
    return Question(
        kind,
        text(q.get("instructions") or ""),
        options,
        distribution(kind, gold, [k for k, _ in options]),
        task,
    )


def of_row(row, task, rng, described=0.65, spread=3.6):
    """One labelled line and its task -> a question: wording, distractors (at most 2 ** spread) and descriptions are drawn."""
    kind = row.get("type") or task["type"]

    def one(v):
        return (rng.choice(v) if v else None) if isinstance(v, list) else v

    instructions = one(row.get("instructions")) or one(task.get("instructions")) or ""
    if kind == "choice":
        given = row.get("options") or row.get("criteria")
        options = given or task["options"]
        options = {k: None for k in options} if isinstance(options, list) else options
        keep = set(row["gold"]) if isinstance(row["gold"], dict) else {row["gold"]}
        others = [k for k in options if k not in keep]
        if not given and others:
            others = rng.sample(others, max(1, min(len(others), int(2 ** rng.uniform(0, spread)))))
        names = others + [k for k in options if k in keep]
        rng.shuffle(names)
        show = given is not None or rng.random() < described
        pairs = [(k, one(options[k]) if show else None) for k in names]
    elif kind == "score":
        pairs = [(str(i), one(v) or None) for i, v in enumerate(row.get("levels") or task["levels"])]
    else:
        show = rng.random() < 0.4
        pairs = [(k, one(row.get(k) or task.get(k)) if show else None) for k in ("false", "true")]
    return Question(
        kind, text(instructions), pairs, distribution(kind, row["gold"], [k for k, _ in pairs]), row["task"]
    )


def lines(path):
    with gzip.open(path, "rt", encoding="utf8") if path.endswith(".gz") else open(path, encoding="utf8") as f:
        for line in f:
            yield json.loads(line)


def in_other_words(question, gold, other):
    """A question of a contrast set and its gold -> the same question in other words, and its gold there: options correspond by place,
    `turned` says that yes means no."""
    other = dict(other, type=question["type"])
    if other.pop("turned", False):
        gold = 1 - gold
    if question["type"] == "choice":
        named = dict(zip(question["criteria"], other["criteria"]))
        gold = {named[k]: p for k, p in gold.items()} if isinstance(gold, dict) else named[gold]
    return other, gold


def records_of(path):
    """A file of contrast sets (sets/README.md) -> records, one a text. `sibling`: what the texts of a set have in common; `otherwise`:
    questions in other words, with their golds; `turned`: those that ask the opposite then."""
    name = "set_" + os.path.basename(path).split(".")[0]
    for i, s in enumerate(lines(path)):
        for j, t in enumerate(s["texts"]):
            yield {
                "id": f"{name}-{i}-{j}",
                "sibling": f"{name}-{i}",
                "lang": s["lang"],
                "state": t["state"],
                "questions": {k: s["questions"][k] for k in t["gold"]},
                "gold": t["gold"],
                "otherwise": {
                    k: in_other_words(s["questions"][k], g, s["otherwise"][k])
                    for k, g in t["gold"].items()
                    if k in s.get("otherwise", ())
                },
                "turned": [k for k, q in s.get("otherwise", {}).items() if q.get("turned")],
            }


def pairs_of(folder):
    """-> (name of the file, {language: text}) of each line of pairs/ (pairs/README.md)."""
    for path in sorted(glob.glob(f"{folder}/*.jsonl")):
        for pair in lines(path):
            yield os.path.basename(path), pair


def read(root, lang="en", more=()):
    """-> tasks by id, rows by source (lang None: every language). A record stays whole: it has `questions`. more: files of contrast sets
    beside those of SETS."""
    tasks, rows = {}, {}
    for p in sorted(glob.glob(f"{root}/*.tasks.json")):
        tasks.update(json.load(open(p, encoding="utf8")))
    for p in sorted(glob.glob(f"{root}/*.jsonl*")):
        own = [r for r in lines(p) if lang is None or r.get("lang", "en") == lang]
        if own:
            rows[os.path.basename(p).split(".")[0]] = own
    for p in [*sorted(glob.glob(f"{SETS}/*.jsonl")), *more]:
        own = [r for r in records_of(p) if lang is None or r["lang"] == lang]
        if own:
            rows[own[0]["id"].split("-")[0]] = own
    return tasks, rows
