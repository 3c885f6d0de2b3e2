"""What is measured on answers: rows {type, source, family, gold (distribution), p} -> accuracy, expectation, calibration."""

import math
import random


def kind_of(source):
    """What a source, or a question of one, is: records (synth), contrast sets, or tasks."""
    return "synth" if source.startswith("synth") else "sets" if source.startswith("set_") else "tasks"


def expectation(p):
    return sum(i * x for i, x in enumerate(p))


def top(p):
    return max(range(len(p)), key=p.__getitem__)


def decided(row):
    """Golds that lean to neither side of a yes/no question are no test of it."""
    return row["type"] != "noul" or not 0.4 < row["gold"][1] < 0.6


def hit(row):
    return (
        top(row["p"]) == top(row["gold"])
        if row["type"] != "choice"
        else row["gold"][top(row["p"])] >= max(row["gold"]) - 1e-9
    )


def near(row):
    return abs(expectation(row["p"]) - expectation(row["gold"])) <= 0.5


def mean(xs):
    xs = list(xs)
    return sum(xs) / len(xs) if xs else float("nan")


def balanced(rows):
    """Yes/no: mean of the accuracy on yes and on no."""
    sides = [[hit(r) for r in rows if decided(r) and top(r["gold"]) == s] for s in (0, 1)]
    return mean(mean(s) for s in sides if s)


def measures(rows):
    """-> {name: value} over rows of any types."""
    by = {t: [r for r in rows if r["type"] == t and decided(r)] for t in ("choice", "noul", "score")}
    out = {}
    if by["choice"]:
        out["choice"] = mean(map(hit, by["choice"]))
    if by["noul"]:
        out["noul"] = mean(map(hit, by["noul"]))
        out["noul_balanced"] = balanced(by["noul"])
    if by["score"]:
        out["score"] = mean(map(hit, by["score"]))
        out["score_half"] = mean(map(near, by["score"]))
        out["score_mae"] = mean(abs(expectation(r["p"]) - expectation(r["gold"])) for r in by["score"])
    out["n"] = sum(map(len, by.values()))
    return out


def by_question(rows):
    """-> {(id of a request, place of a question in it): row}, so that answers of several checkpoints can be laid side by side."""
    seen, out = {}, {}
    for r in rows:
        place = seen[r["id"]] = seen.get(r["id"], -1) + 1
        out[r["id"], place] = r
    return out


def reliability(rows, bins=15):
    """By confidence of the most probable answer: -> [(mean confidence, share right, answers)] of bins that hold any; soft golds
    count with their share."""
    cells = [[] for _ in range(bins)]
    for r in rows:
        k = top(r["p"])
        cells[min(bins - 1, int(r["p"][k] * bins))].append((r["p"][k], r["gold"][k]))
    return [(mean(x for x, _ in c), mean(y for _, y in c), len(c)) for c in cells if c]


def ece(rows):
    """Expected calibration error."""
    cells = reliability(rows)
    n = sum(n for *_, n in cells) or 1
    return sum(n * abs(x - y) for x, y, n in cells) / n


def ece_by_chance(rows, draws=100, seed=1):
    """The error that perfectly calibrated answers of these confidences would show at this number of them, on average: with few
    answers a bin it is not 0."""
    rng = random.Random(seed)

    def lucky(r):
        k = top(r["p"])
        return dict(p=r["p"], gold=[float(i == k and rng.random() < r["p"][k]) for i in range(len(r["p"]))])

    return mean(ece([lucky(r) for r in rows]) for _ in range(draws))


def agreement(rows, others):
    """Two models' answers to the same questions -> share with the same argmax, mean |dp| over options."""
    pairs = [(a["p"], b["p"]) for a, b in zip(rows, others, strict=True)]
    same = mean(top(p) == top(q) for p, q in pairs)
    return same, mean(mean(abs(x - y) for x, y in zip(p, q)) for p, q in pairs)


def centred(rows, fewest=5):
    """Answers to questions of contrast sets with `fewest` texts or more -> the rows as they are, and with each question's mean
    log-probabilities over its texts taken off: answers without what the question says before any text is read. No single row knows
    that mean: a measure, not a way to answer."""
    by, plain, out = {}, [], []
    for (name, place), r in by_question(rows).items():
        by.setdefault((name.rsplit("-", 1)[0], place, r["type"], len(r["p"])), []).append(r)
    for rs in by.values():
        if len(rs) < fewest:
            continue
        logs = [[math.log(max(x, 1e-6)) for x in r["p"]] for r in rs]
        means = [mean(column) for column in zip(*logs)]
        for r, zs in zip(rs, logs):
            e = [math.exp(z - m) for z, m in zip(zs, means)]
            plain.append(r)
            out.append(dict(r, p=[x / sum(e) for x in e]))
    return plain, out


def line(rows):
    """Records, contrast sets and tasks apart, English and other languages apart, on one line."""

    def said(name, rs):
        return (
            name + " " + " ".join(f"{k} {v:.3f}" if k != "n" else f"n {v}" for k, v in measures(rs).items())
        )

    groups = {}
    for r in rows:
        groups.setdefault((r["lang"] != "en", kind_of(r["source"])), []).append(r)
    return " | ".join(said(f"{'other ' * other}{kind}:", rs) for (other, kind), rs in sorted(groups.items()))
