"""Fits temperatures on one half of the held-out tasks and records, shows what they do on the other half, writes them down.

usage: calibrate.py --checkpoint DIR --dev dev.jsonl[,more.jsonl] [--limit REQUESTS] [--rows rows.json] [--fit 1] [--write 1] [--picture calibration.svg]
The error is told by type and by group of languages. What yes lacks in its logit is printed too: export.py --yes adds it, then calibrate again. A limit holds for each file: English and other
languages count alike so. Answers are kept in --rows, and taken from there where it exists. With --fit 0 the temperatures are those that the checkpoint has: more answers than any were fitted on show what they do by
language.
"""

import argparse
import hashlib
import json
import os

import numpy as np

import metrics
from checkpoint import Checkpoint, bucket, measured, requests, softmax

# By where most of their speakers live; `mul`: a text of a contrast set in many languages
GROUPS = {
    "English": "en",
    "Europe": "af be bg br bs ca cs cy da de el eo es et eu fi fo fr ga gd gl hr hu is it la lb lt lv mk mt nl nn no oc pl pt ro ru sk sl sq sr sv uk yi",
    "Africa": "am ary ha ig kin mg om pcm rw sn so st sw ti tn tso twi vmw wo xh yo zu",
    "West and Central Asia": "ar arq az fa he hy ka kk ku ky ps sd tg tk tr tt ug uz",
    "South Asia": "as bn gu hi kn ml mr ne or pa sa si ta te ur",
    "East and South-East Asia": "bo id ja jv km ko lo mn ms my su th tl vi yue zh zh-Hant",
    "many": "mul",
}
GRID = np.exp(np.linspace(np.log(0.5), np.log(5.0), 93))
SHIFTS = np.linspace(-1, 1, 41)
FEWEST = 300  # questions under which a bucket keeps its type's temperature, and a type 1: a fit on fewer did not hold elsewhere


def group(lang):
    return next((name for name, langs in GROUPS.items() if lang in langs.split()), "other")


def half(row):
    """Whole tasks, records or contrast sets on one side."""
    kind = metrics.kind_of(row["source"])
    unit = {"tasks": row["family"], "synth": row["id"], "sets": row["id"].rsplit("-", 1)[0]}[kind]
    return int(hashlib.sha256(unit.encode()).hexdigest(), 16) % 2


def loss(rows, t):
    out = 0.0
    for r in rows:
        z = np.array(r["z"]) / t
        z = z - z.max()
        out -= float(np.array(r["gold"]) @ (z - np.log(np.exp(z).sum())))
    return out


def fit(rows):
    return round(float(min(GRID, key=lambda t: loss(rows, t))), 3)


def temperatures(rows):
    """-> {temperature: {type: T}, temperature_by_options: {"type:bucket": T}}; T lies in [0.5, 5]."""
    by_type, by_bucket = {}, {}
    for r in rows:
        by_type.setdefault(r["type"], []).append(r)
        by_bucket.setdefault(f"{r['type']}:{bucket(len(r['z']))}", []).append(r)
    return {
        "temperature": {k: fit(v) for k, v in sorted(by_type.items()) if len(v) >= FEWEST},
        "temperature_by_options": {k: fit(v) for k, v in sorted(by_bucket.items()) if len(v) >= FEWEST},
    }


def yes_lacks(rows):
    """What, added to the logit of yes, makes yes/no answers likeliest at their best temperature (Platt, 1999), in steps of .05."""
    rows = [r for r in rows if r["type"] == "noul"]
    if len(rows) < FEWEST:
        return 0.0
    z = np.array([r["z"][1] - r["z"][0] for r in rows])
    p = np.array([r["gold"][1] for r in rows])

    def lost(b, t):
        return float(np.logaddexp(0, (z + b) / t).sum() - (p * (z + b) / t).sum())

    return round(float(min(SHIFTS, key=lambda b: min(lost(b, t) for t in GRID))), 2)


def applied(rows, c):
    """The rows with probabilities at the calibration's temperatures."""

    def t(r):
        return c["temperature_by_options"].get(f"{r['type']}:{bucket(len(r['z']))}") or c["temperature"].get(
            r["type"], 1.0
        )

    return [dict(r, p=softmax(np.array(r["z"]), t(r)).tolist()) for r in rows]


def report(rows, c):
    told = [r for r in rows if half(r) == 1]
    after = applied(told, c)
    print(f"{'':24}{'n':>6}{'ECE before':>12}{'after':>8}{'by chance':>11}")
    for name in ("choice", "noul", "score", *GROUPS, "other", "all"):

        def pick(rs, name=name):
            return [r for r in rs if name in (r["type"], group(r["lang"]), "all")]

        if len(pick(told)) < FEWEST:
            continue
        before, now, chance = (
            metrics.ece(pick(told)),
            metrics.ece(pick(after)),
            metrics.ece_by_chance(pick(after)),
        )
        print(f"{name:24}{len(pick(told)):6}{before:12.3f}{now:8.3f}{chance:11.3f}")


def picture(rows, c, path):
    """Confidence against the share of right answers on the half that no temperature was fitted on: before (dashed) and after."""
    told = [r for r in rows if half(r) == 1]
    size, gap = 180, 46
    parts = []
    for i, name in enumerate(("choice", "noul", "score")):
        x0 = gap + i * (size + gap)

        def at(x, y, x0=x0):
            return f"{x0 + x * size:.1f},{30 + (1 - y) * size:.1f}"

        own = [r for r in told if r["type"] == name]
        parts.append(
            f'<rect x="{x0}" y="30" width="{size}" height="{size}" class="box"/>'
            f'<polyline points="{at(0, 0)} {at(1, 1)}" class="ideal"/>'
            f'<text x="{x0 + size / 2}" y="20">{name}, {len(own)} answers</text>'
            f'<text x="{x0}" y="{48 + size}">0</text><text x="{x0 + size}" y="{48 + size}">1</text>'
        )
        for rs, kind in ((own, "before"), (applied(own, c), "after")):
            cells = metrics.reliability(rs)
            parts.append(f'<polyline points="{" ".join(at(x, y) for x, y, _ in cells)}" class="{kind}"/>')
            parts += [
                f'<circle cx="{at(x, y).split(",")[0]}" cy="{at(x, y).split(",")[1]}" r="{min(7, 1 + (n / len(own)) ** 0.5 * 10):.1f}" class="{kind}"/>'
                for x, y, n in cells
                if kind == "after"
            ]
    width, height = gap + 3 * (size + gap), 30 + size + 44
    style = (
        "text{font:12px sans-serif;fill:#777;text-anchor:middle}.box{fill:none;stroke:#999}.ideal{stroke:#999;stroke-width:1}"
        "polyline{fill:none;stroke-width:2}.before{stroke:#b8621b;stroke-dasharray:4 3}.after{stroke:#2a6fdb}"
        "circle.after{fill:#2a6fdb;stroke:none}"
    )
    legend = f'<text x="{width / 2}" y="{height - 8}">confidence (across) and share of right answers (up); dashed: before, blue: calibrated</text>'
    with open(path, "w", encoding="utf8") as f:
        f.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"><title>Calibration on held-out questions'
            f"</title><style>{style}</style>{''.join(parts)}{legend}</svg>\n"
        )


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--checkpoint", required=True)
    p.add_argument("--dev", default="")
    p.add_argument("--rows", default="")
    p.add_argument("--limit", type=int, default=0)
    p.add_argument("--fit", type=int, default=1)
    p.add_argument("--write", type=int, default=1)
    p.add_argument("--picture", default="")
    a = p.parse_args()
    if a.rows and os.path.exists(a.rows):
        rows = json.load(open(a.rows))
    else:
        asked = [x for file in a.dev.split(",") for x in requests(file, a.limit)]
        rows = measured(Checkpoint(a.checkpoint), asked)
        if a.rows:
            json.dump(rows, open(a.rows, "w"))
    fitted = [r for r in rows if half(r) == 0]
    path = f"{a.checkpoint}/checkpoint.json"
    m = json.load(open(path, encoding="utf8"))
    c = temperatures(fitted) if a.fit else m["calibration"]
    print(json.dumps(c))
    print(f"yes lacks {yes_lacks(fitted):+.2f} in its logit (export.py --yes)")
    report(rows, c)
    if a.picture:
        picture(rows, c, a.picture)
    if a.fit and a.write:
        m["calibration"] = c
        json.dump(m, open(path, "w", encoding="utf8"), indent=1)


if __name__ == "__main__":
    main()
