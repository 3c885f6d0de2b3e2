"""Draws training questions: which source, which state, which questions about it. Never a held-out task, record or state."""

import random

import derive
from sources import of_record, of_row, text

SHARES = dict(
    synth_support=4,
    synth_ops=4,
    synth_broad=4,
    synth_guard=3,
    synth_long=1.5,
    synth_people=4,
    synth_tech=4,
    synth_docs=3.5,
    synth_social=4,
    synth_rules=4,
    pairs=32,
    sni_en=15,
    t0_qa=10,
    t0_text=7,
    tweeteval=6,
    goemotions=5,
    sgd=6,
    clinc=5,
    hwu64=4,
    nicode=3,
    product_reviews=3,
    brighter_en=3,
    trec=2,
    nli=2,
)
BESIDE = 0.3  # share of states that are also asked something that was written about another one
UNSURE = 0.12  # P(yes) of such a question
OTHERWISE = 0.6  # share of questions that are asked in other words, where there are any
AS_WELL = 0.6  # share of those that are asked in their own words too
TOGETHER = 4  # texts of a contrast set that are asked the same questions at once, at most: each question is then read once for all of them
MAX_STATE = 1000  # characters; of a synth record twice as many


def set_of(record):
    """What the texts of a contrast set have in common; another record is alone."""
    return record.get("sibling", record["id"])


class Draw:
    """shares: other weights than SHARES; longest: states over so many characters are left out; filler: lines of other texts, in
    which a share `hidden` of the states stands, of up to `hidden_in` characters."""

    def __init__(
        self,
        tasks,
        rows,
        suite,
        seen_in_dev,
        rng,
        shares=None,
        longest=MAX_STATE,
        filler=(),
        hidden=0.0,
        hidden_in=4000,
        quoted=0.15,
    ):
        self.quoted = quoted  # share of states that are also asked whether they say one of their sentences
        self.filler, self.hidden, self.hidden_in = filler, hidden if filler else 0.0, hidden_in
        held, records = set(suite["tasks"]), set(suite["records"])
        self.tasks, self.rng, self.ties = tasks, rng, 0
        self.by_task, self.by_state, self.records, self.sets = {}, {}, {}, {}
        for source, rs in rows.items():
            for r in rs:
                if "questions" in r:
                    if r["id"] not in records and len(text(r["state"])) <= 2 * longest:
                        self.records.setdefault(source, []).append(r)
                        self.sets.setdefault(set_of(r), []).append(r)
                    continue
                s = text(r["state"])
                if r["task"] in held or r.get("split") == "dev" or s in seen_in_dev or len(s) > longest:
                    continue
                self.by_task.setdefault(source, {}).setdefault(r["task"], []).append(r)
                self.by_state.setdefault((source, s), []).append(r)
        self.pairs = {0: [], 1: []}
        for source in ("sni_en", "nli"):
            for task, rs in self.by_task.get(source, {}).items():
                if not task.startswith(("sni.snli", "sni.mnli", "nli.rte")):
                    continue
                for r in rs:
                    for h, p in derive.picked(r):
                        self.pairs[int(p > 0.5)].append((text(r["state"]), h))
                    found = derive.pair_of(r["state"])
                    p = derive.entailed(task, r["gold"]) if found and found[0] not in seen_in_dev else None
                    if p is not None:
                        self.pairs[int(p > 0.5)].append(found)
        self.of_premise = {}
        for p, told in self.pairs.items():
            for premise, h in told:
                self.of_premise.setdefault(premise, {})[h] = float(p)
        self.named = {s: (list(t), [len(r) ** 0.5 for r in t.values()]) for s, t in self.by_task.items()}
        shares = shares or SHARES
        self.sources = [s for s in shares if s in self.named or s in self.records or s == "pairs"]
        self.weights = [shares[s] for s in self.sources]

    def sizes(self):
        return dict(
            records=sum(map(len, self.records.values())),
            rows=sum(len(r) for t in self.by_task.values() for r in t.values()),
            tasks=sum(map(len, self.by_task.values())),
            pairs={k: len(v) for k, v in self.pairs.items()},
        )

    def draw(self):
        """-> [(state text, its questions)]: one, or some texts of a contrast set that are asked the same; now and then a state stands
        in a long text."""
        return [
            (
                derive.surrounded(state, self.filler, self.rng, self.hidden_in)
                if self.rng.random() < self.hidden
                else state,
                qs,
            )
            for state, qs in self.asked()
        ]

    def written(self, source, state):
        """A sentence of this state, true to it or not, as a question; None where there is none."""
        names, weights = self.named.get(source, ((), ()))
        other = (
            self.rng.choice(self.by_task[source][self.rng.choices(names, weights)[0]])
            if names
            else self.rng.choice(self.records[source])
        )
        return (
            derive.written(state, text(other["state"]), self.rng) if isinstance(other["state"], str) else None
        )

    def asked(self):
        """-> [(state text, its questions)]. Many about one state: reading a state costs as much as some questions about it."""
        rng = self.rng
        source = rng.choices(self.sources, self.weights)[0]
        if source == "pairs":
            premise, h = rng.choice(self.pairs[int(rng.random() < 0.5)])
            told = self.of_premise[premise]
            hs = [h] + [o for o in rng.sample(list(told), min(2, len(told))) if o != h]
            qs = [derive.statement(h, told[h], rng) for h in hs]
            if rng.random() < BESIDE:
                qs.append(derive.statement(rng.choice(self.pairs[1])[1], 0.05, rng))
            return [(premise, qs)]
        if source in self.records:
            return self.asked_alike(source, rng.choice(self.records[source]))
        names, weights = self.named[source]
        row = rng.choice(self.by_task[source][rng.choices(names, weights)[0]])
        about = [row] + [r for r in self.by_state[source, text(row["state"])] if r is not row][:3]
        qs = [of_row(r, self.tasks.get(r["task"], {}), rng) for r in about]
        first = qs[0]
        if first.type == "choice":
            qs.append(of_row(row, self.tasks.get(row["task"], {}), rng))
        if first.type != "noul":
            qs += [derive.asked_as_noul(q, rng) for q in qs]
        if isinstance(row["state"], str) and rng.random() < self.quoted:
            qs.append(self.written(source, row["state"]))
        return [(text(row["state"]), [self.varied(q, rng) for q in qs if q])]

    def asked_alike(self, source, record):
        """A record and some texts of its set -> [(state text, its questions)]: each question is worded and varied alike for all of them;
        the record is asked some more."""
        rng, seed = self.rng, self.rng.random()
        others = [r for r in self.sets[set_of(record)] if r is not record]
        out = []
        for r in [record, *rng.sample(others, min(len(others), rng.randrange(TOGETHER)))]:
            qs = []
            for k in r["questions"]:
                if k in r["gold"]:
                    alike = random.Random(f"{seed} {k}")
                    qs += [self.varied(q, alike) for q in self.worded(source, r, k, alike)]
            out.append((text(r["state"]), qs))
        more = [
            derive.asked_as_noul(of_record(q, record["gold"][k], source), rng)
            for k, q in record["questions"].items()
            if q["type"] == "choice" and k in record["gold"] and rng.random() < 0.3
        ]
        more.append(self.beside(source, record) if rng.random() < 2 * BESIDE else None)
        if isinstance(record["state"], str) and rng.random() < 2 * self.quoted:
            more.append(self.written(source, record["state"]))
        out[0][1].extend(self.varied(q, rng) for q in more if q)
        return out

    def worded(self, source, record, key, rng):
        """-> a question of a record in its own words, in others, or in both, tied together."""
        own = of_record(record["questions"][key], record["gold"][key], source)
        other = record.get("otherwise", {}).get(key)
        if other is None or rng.random() >= OTHERWISE:
            return [own]
        told = of_record(*other, source)
        if rng.random() >= AS_WELL:
            return [told]
        self.ties += 1
        own.tie, told.tie, told.turned = self.ties, self.ties, key in record["turned"]
        if own.type == "choice":
            order = rng.sample(range(len(own.options)), len(own.options))
            for q in (own, told):
                q.options, q.target = [q.options[i] for i in order], [q.target[i] for i in order]
        return [own, told]

    def beside(self, source, record):
        """A yes/no question of another record: what it asks about is most often not in this one. None where it asked none."""
        other = self.rng.choice(self.records[source])
        asked = [q for k, q in other["questions"].items() if q["type"] == "noul" and k in other["gold"]]
        if set_of(other) == set_of(record) or not asked:
            return None
        q = of_record(self.rng.choice(asked), 0, source)
        q.target = [1 - UNSURE, UNSURE]
        return q

    def varied(self, q, rng):
        """A question as it is, or told in another way with the same gold; a tied one as it is."""
        if q.tie is not None:
            return q
        x = rng.random()
        if q.type == "choice":
            if len(q.options) > 20 and rng.random() < 0.7:
                q = derive.fewer(q, rng)
            if x < 0.12:
                return derive.asked_as_noul(q, rng) or q
            if x < 0.3 and len(q.options) > 2 and any(t < 0.05 for t in q.target):  # fewer distractors
                keep = [i for i, t in enumerate(q.target) if t >= 0.05 or rng.random() < 0.6]
                if len(keep) > 1:
                    q.options, q.target = [q.options[i] for i in keep], [q.target[i] for i in keep]
            order = list(range(len(q.options)))
            rng.shuffle(order)
            q.options, q.target = [q.options[i] for i in order], [q.target[i] for i in order]
            if all(d for _, d in q.options) and 0.3 < x < 0.4 and all(len(k) > 3 for k, _ in q.options):
                q.options = [(k, None) for k, _ in q.options]
            elif 0.4 < x < 0.6:
                return derive.relabelled(q, rng)
            elif 0.6 < x < 0.65:
                return derive.or_none(q, rng)
        elif q.type == "score":
            if x < 0.25 and all(d for _, d in q.options):
                return derive.turned(q)
            if x < 0.35:
                return derive.asked_as_noul(q, rng) or q
        else:
            described = all(d for _, d in q.options)
            if x < 0.07:
                return derive.asked_as_choice(q, rng)
            if x < 0.10 and described:
                return derive.swapped(q)
            if x < 0.25 and described:
                q.options = [(k, None) for k, _ in q.options]
        return q
