"""Questions made out of other questions: what teaches reading rather than a data set's form."""

import re

from sources import Question

ASK = [
    "{i} {o}?",
    '{i} Is it "{o}"?',
    'The answer to "{i}" is "{o}".',
    '"{i}" {o}',
    'Is "{o}" the right answer to "{i}"?',
    "{i} - {o}",
]
HOLDS = ["{h}"] * 6 + [
    "Is it true that {h}?",
    "True or false: {h}",
    "The text says: {h}",
    "Does it follow that {h}?",
    "According to the text, {h}",
    "{h} Right?",
]
FAILS = [
    "It is false that {h}",
    "It is not the case that {h}",
    "Is it wrong to say that {h}?",
    "The text does not support this: {h}",
]
PAIR = [
    ("premise", "hypothesis"),
    ("text", "claim"),
    ("evidence", "statement"),
    ("a", "b"),
    ("sentence1", "sentence2"),
    ("report.body", "conclusion"),
]
STYLES = [
    lambda k: re.sub(r"[\s/,-]+", "_", k.strip()).lower(),
    lambda k: k.replace("_", " ").lower(),
    lambda k: k.replace("_", " ").title(),
    lambda k: k.replace("_", " ").upper(),
    lambda k: re.sub(r"[\s_-]+", "-", k.strip()).lower(),
]
NONE = re.compile(
    r"\b(none|other|no|not|neither|unknown|unclear|else|nothing|any)\b|_(none|other)|oos|scope", re.IGNORECASE
)
NO_OPTION = [
    "none of these",
    "none",
    "other",
    "something else",
    "none of the above",
    "other / none",
    "not listed",
    "no match",
]
LINES = re.compile(
    r"^(?:Premise|Sentence 1|Text|A): (?P<p>.+)\n+(?:Hypothesis|Sentence 2|Claim|B): (?P<h>.+)$|^(?P<p2>.+)\n\nClaim: (?P<h2>.+)$",
    re.DOTALL,
)
ENTAILED = {"entailment", "follows", "supported", "yes", "true", "agrees", "agree"}
REFUTED = {"contradiction", "contradicts", "conflicts", "refuted", "no", "false", "conflict", "disagrees"}


def pair_of(state):
    """Premise and hypothesis of an inference row, whatever form its state has; else None."""
    if isinstance(state, str):
        m = LINES.match(state)
        return ((m["p"] or m["p2"]).strip(), (m["h"] or m["h2"]).strip()) if m else None
    if not isinstance(state, dict):
        return None
    for a, b in PAIR:
        p = state
        for k in a.split("."):
            p = p.get(k) if isinstance(p, dict) else None
        if isinstance(p, str) and isinstance(state.get(b), str) and len(state) == 2:
            return p, state[b]
    return None


def entailed(task, gold):
    """P(the hypothesis holds, given the premise) as the row tells it; None where it leaves that open."""
    kind = task.split(".")[2] if task.count(".") > 1 else ""
    if kind in ("follows", "lacks"):
        return float(gold) if kind == "follows" else 1 - float(gold)
    if kind == "conflict":
        return 0.0 if gold == 1 else None
    if kind == "open":
        return 0.0 if gold == 1 else None
    if kind == "possible":
        return 0.0 if gold == 0 else None
    if kind == "level":
        return {0: 0.0, 1: 0.0, 2: 1.0}.get(gold)
    if isinstance(gold, str):
        return 1.0 if gold.lower() in ENTAILED else 0.0
    return None


def picked(row):
    """A row that asks which of some statements holds (or conflicts) -> [(statement, P(it holds))] of those that it tells."""
    kind = row["task"].split(".")[2] if row["task"].startswith(("sni.snli.pick_", "sni.mnli.pick_")) else ""
    if kind == "pick_true":
        return [(h, float(h == row["gold"])) for h in row["options"]]
    return [(row["gold"], 0.0)] if kind in ("pick_false", "pick_open") else []


def statement(h, p, rng, task="derived.pair"):
    """The hypothesis itself is the question, the premise the state: the form that users write."""
    flip = rng.random() < 0.1
    form = rng.choice(FAILS if flip else HOLDS)
    if "{h}" != form and not form.startswith(("True", "The text says", "{h}")):
        h = h[:1].lower() + h[1:] if h[1:2].islower() else h
    if form.endswith("?") and form != "{h} Right?":
        h = h.rstrip(". ")
    p = 1 - p if flip else p
    return noul(form.format(h=h), p, task)


def noul(instructions, p, task):
    return Question("noul", instructions, [("false", None), ("true", None)], [1 - p, p], task)


def asked_as_noul(q, rng):
    """One option of a choice, or level of a score, as a yes/no question: the gold one half of the time."""
    gold = max(range(len(q.target)), key=q.target.__getitem__)
    others = [i for i in range(len(q.options)) if q.target[i] < 0.05]
    if q.target[gold] < 0.8 or not others:
        return None
    right = rng.random() < 0.5
    i = gold if right else rng.choice(others)
    label, said = q.options[i]
    if q.type == "score" and not said:
        return None
    o = said if q.type == "score" or (said and (len(label) <= 3 or rng.random() < 0.5)) else label
    o = o.replace("_", " ").strip().rstrip(".")
    if said and len(o.split()) >= 4 and q.type == "choice" and rng.random() < 0.4:
        text = o
    else:
        text = rng.choice(ASK).format(i=q.instructions.strip(), o=o)
    return noul(text, float(right), q.task + "+noul")


def asked_as_choice(q, rng):
    """A yes/no question whose two answers are labels of a choice."""
    names = rng.choice(
        [("no", "yes"), ("false", "true"), ("No", "Yes"), ("does not hold", "holds"), ("N", "Y")]
    )
    said = [d for _, d in q.options]
    pairs = [((n, d if rng.random() < 0.5 else None), t) for n, d, t in zip(names, said, q.target)]
    rng.shuffle(pairs)
    return Question(
        "choice", q.instructions, [o for o, _ in pairs], [t for _, t in pairs], q.task + "+choice"
    )


def relabelled(q, rng):
    """A choice whose options are called otherwise: by their descriptions, by letters or numbers with the label as description, or by
    the same words written in another style. `q` itself where nothing of that can be done."""
    told = all(d for _, d in q.options)
    x = rng.random()
    if told and x < 0.3 and len({d for _, d in q.options}) == len(q.options):
        names = [(d, None) for _, d in q.options]
    elif x < 0.6 and len(q.options) <= 26 and all(len(k) > 3 for k, _ in q.options):
        start = rng.choice(["A", "a", "1", "K1", "T1"])
        codes = [
            start[:-1] + (chr(ord(start[-1]) + i) if start[-1].isalpha() else str(int(start[-1]) + i))
            for i in range(len(q.options))
        ]
        names = [
            (c, d if d and rng.random() < 0.4 else f"{k}, {d}" if d else k)
            for c, (k, d) in zip(codes, q.options)
        ]
    else:
        style = rng.choice(STYLES)
        names = [(style(k), d) for k, d in q.options]
    if len({k for k, _ in names}) < len(names):
        return q
    return Question(q.type, q.instructions, names, q.target, q.task)


def fewer(q, rng):
    """A choice with some of its wrong options left out: at most 40 stay."""
    wrong = [i for i, t in enumerate(q.target) if t < 0.05]
    keep = set(rng.sample(wrong, min(len(wrong), rng.randint(6, 39))))
    keep |= {i for i, t in enumerate(q.target) if t >= 0.05}
    kept = [i for i in range(len(q.options)) if i in keep]
    return Question(q.type, q.instructions, [q.options[i] for i in kept], [q.target[i] for i in kept], q.task)


def or_none(q, rng):
    """A choice that may have no right option: `none of these` among its options, half of the time in place of the gold."""
    gold = max(range(len(q.target)), key=q.target.__getitem__)
    if q.target[gold] < 0.95 or len(q.options) < 4 or any(NONE.search(k) for k, _ in q.options):
        return q
    pairs = list(zip(q.options, q.target))
    right = rng.random() < 0.5
    if right:
        pairs.pop(gold)
    pairs.insert(rng.randrange(len(pairs) + 1), ((rng.choice(NO_OPTION), None), float(right)))
    return Question(q.type, q.instructions, [o for o, _ in pairs], [t for _, t in pairs], q.task)


def turned(q):
    """A score with its levels in the other order: only their wording tells which end is which."""
    said = [d for _, d in q.options][::-1]
    return Question(
        "score", q.instructions, [(str(i), d) for i, d in enumerate(said)], q.target[::-1], q.task
    )


def swapped(q):
    """A yes/no question whose criteria are exchanged: `true` now describes what `false` did."""
    (f, fd), (t, td) = q.options
    return Question(
        "noul", "Which of the two descriptions fits?", [(f, td), (t, fd)], q.target[::-1], q.task + "+swapped"
    )


def surrounded(state, lines, rng, longest):
    """The state somewhere in a text of other things: lines that follow each other elsewhere, up to `longest` characters in all."""
    room = rng.uniform(0.3, 1) * longest - len(state)
    before = rng.random() * room
    parts, size, placed = [], 0, False
    for line in lines[rng.randrange(len(lines)) :]:
        if not placed and size >= before:
            parts.append(state)
            placed = True
        if size + len(line) > room:
            break
        parts.append(line)
        size += len(line) + 1
    return "\n".join(parts if placed else [*parts, state])


SENTENCE = re.compile(r"[^.!?\n。！？।]+[.!?。！？।]?")
EXCHANGED = re.compile(r"\d+|(?<=[a-z,] )[A-Z][a-z]{2,}")  # numbers, and names within an English sentence
SENSES = [("is", "is not"), ("was", "was not"), ("are", "are not"), ("were", "were not"), ("can", "cannot")]
SENSES += [
    ("will", "will not"),
    ("has", "has never"),
    ("have", "have never"),
    ("all", "none"),
    ("before", "after"),
]
SENSES = [(re.compile(rf"\b{a}\b(?! not)"), b) for a, b in SENSES]
WRITTEN = ["{s}", "{s}", "{s}", "The text says: {s}", "Does the text say this? {s}", 'Is "{s}" written here?']


def sentences(text):
    return [s.strip() for s in SENTENCE.findall(text) if 12 < len(s.strip()) < 200]


def written(state, other, rng):
    """A sentence of the state as a yes/no question; half of the time with a number, a name or its sense exchanged, or one of
    another text. None where the state has no sentence to ask about."""
    own, others = sentences(state), sentences(other)
    if not own or not others:
        return None
    s, p = rng.choice(own), 1.0
    if rng.random() < 0.5:
        told = rng.choice(others)
        found, theirs = list(EXCHANGED.finditer(s)), EXCHANGED.findall(told)
        senses = [(a, b) for a, b in SENSES if a.search(s)]
        if found and rng.random() < 0.7:
            m = rng.choice(found)
            new = [x for x in theirs if x.isdigit() == m[0].isdigit() and x != m[0]]
            new = rng.choice(new) if new else str(rng.randrange(100)) if m[0].isdigit() else ""
            if not new or new == m[0]:
                return None
            s = s[: m.start()] + new + s[m.end() :]
        elif senses and rng.random() < 0.7:
            a, b = rng.choice(senses)
            s = a.sub(b, s, count=1)
        else:
            s = told
        p = 0.03
    return noul(rng.choice(WRITTEN).format(s=s), p, "derived.written")
