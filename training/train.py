"""Trains Decide (and, with --unfreeze, Encode) on drawn questions; resumable; follows yes/no, score and choice apart on the dev suite.

usage: train.py --base DIR --data DIR --dev dev.jsonl --out DIR --minutes 80 [--device cuda --unfreeze 1 ...]
A checkpoint holds the plain weights, their running mean (what ships), the optimiser and the time spent. --init takes the means of
earlier runs, several (a.pt,b.pt) in equal parts. --hold up,down leaves these parts of every encoder layer as they are. --questions 0 trains the encoder alone, on
--vectors; --more names files of contrast sets beside those in sets/.
"""

import argparse
import gzip
import json
import os
import random
import time

import torch
import torch.nn.functional as F

import metrics
from draw import Draw
from model import models
from segments import Row, Segments, Tokens, collate
from sources import QTYPE, of_record, read, text

OPTIONS = dict(
    base="",
    reader="",
    data="",
    suite=os.path.join(os.path.dirname(os.path.abspath(__file__)), "dev-suite.json"),
    dev="",
    out="",
    lang="en",
    minutes=60.0,
    depths=3,
    scale=15.0,
    centre=0,
    lr=2e-4,
    lr_encode=3e-5,
    lr_read=5e-4,
    batch=64,
    live_tokens=2400,
    state_tokens=8192,
    pool=3072,
    window=512,
    prefix_tokens=128,
    seed=1,
    threads=1,
    device="cpu",
    half=0,
    unfreeze=0,
    resume=1,
    eval_every=8.0,
    eval_n=400,
    mean=0.998,
    cache_mb=3000,
    init="",
    shares="",
    more="",
    types="",
    longest=1000,
    filler="",
    hidden=0.01,
    hidden_in=4000,
    quoted=0.15,
    dropout=0.1,
    floor=0.02,
    tie=0.0,
    runs=1,
    run=0,
    meet="",
    meet_every=32,
    questions=1,
    vectors="",
    vectors_batch=128,
    vectors_weight=1.0,
    words=0,
    hold="",
)
SMOOTH = 0.03
SHARP = 12.0  # what cosines are multiplied by: half of what a vector is like is then itself, half other texts
AVERAGE_EVERY = 8


def loss_of(z, target, mask, qtype):
    """Cross-entropy on soft targets; a score pays for its distance too (ranked probability score). -> [n]"""
    k = mask.sum(-1, keepdim=True).clamp(min=2)
    logp = F.log_softmax(z.float(), -1).clamp(min=-50)
    ce = -((target * (1 - SMOOTH) + SMOOTH * mask / k) * logp).sum(-1)
    rps = (((logp.exp().cumsum(-1) - target.cumsum(-1)) ** 2) * mask).sum(-1) / (k.squeeze(-1) - 1)
    return ce + (qtype == QTYPE["score"]) * 2.0 * rps


def disagreement(z, batch):
    """How far the answers to one question in two wordings are apart, summed over the pairs of a batch: half their symmetric
    Kullback-Leibler divergence."""
    rows = {}
    for i, b in enumerate(batch):
        if b.tie is not None:
            rows.setdefault(b.tie, []).append(i)
    pairs = [(i, j, batch[i].turned != batch[j].turned) for i, j in (r for r in rows.values() if len(r) == 2)]
    if not pairs:
        return z.new_zeros(())
    logp = F.log_softmax(z.float(), -1).clamp(min=-50)
    apart = z.new_zeros(())
    for i, j, turned in pairs:
        p, q = logp[i], torch.cat((logp[j, :2].flip(0), logp[j, 2:])) if turned else logp[j]
        apart = apart + ((p.exp() - q.exp()) * (p - q)).sum() / 2
    return apart


def tokenised(tokens, state, q, window, group=None):
    """-> Row; None where it does not fit the window."""
    row = Row(
        QTYPE[q.type],
        tuple(tokens.head(q.head())),
        [tuple(tokens.option(o)) for o in q.option_texts()],
        q.target,
        tuple(tokens.state(state)),
        q.task,
        q.tie,
        q.turned,
        group,
    )
    return row if prefix_tokens(row) + 1 + len(row.state) <= window else None


def prefix_tokens(row):
    return len(row.head) + sum(map(len, row.options))


def batches(pool, a, rng):
    """Questions of like state and prefix length together, those that were drawn together side by side (their states and segments
    are then read once) and tied ones in one batch, under budgets of live and of state tokens."""

    def bucket(n):
        return min(b for b in (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1 << 30) if n <= b)

    def live(b):
        return len(b.head) + len(b.options)

    def prefix(b):
        return prefix_tokens(b) + 2 * len(b.options)

    order = {g: rng.random() for g in {b.group for b in pool}}
    state = {}
    for b in pool:
        state[b.group] = max(state.get(b.group, 0), len(b.state))
    units = {}
    for i, b in enumerate(pool):
        units.setdefault((i, None) if b.tie is None else b.tie, []).append(b)
    rows = sorted(
        units.values(),
        key=lambda u: (bucket(state[u[0].group]), bucket(max(map(prefix, u))), order[u[0].group], u[0].head),
    )
    out, cur, top, longest = [], [], 0, 0
    for u in rows:
        t, s, n = max(top, *map(live, u)), max(longest, len(u[0].state)), len(cur) + len(u)
        if cur and (n > a.batch or n * t > a.live_tokens or n * s > a.state_tokens):
            out.append(cur)
            cur, t, s = [], max(map(live, u)), len(u[0].state)
        cur += u
        top, longest = t, s
    if cur:
        out.append(cur)
    rng.shuffle(out)
    return out


class Trainer:
    def __init__(self, a):
        self.a, self.rng = a, random.Random(a.seed)
        torch.manual_seed(a.seed)
        if a.device == "cpu":
            torch.set_num_threads(a.threads)
        self.tokens = Tokens(f"{a.base}/tokenizer.json")
        self.encode, self.decide = (
            m.to(a.device) for m in models(a.base, a.depths, a.reader, scale=a.scale, dropout=a.dropout)
        )
        if a.vectors and not a.unfreeze:
            raise ValueError("--vectors trains upper layers of the encoder: say how many with --unfreeze")
        if not a.vectors and not a.questions:
            raise ValueError("--questions 0 trains nothing without --vectors")
        if a.words and a.questions:
            raise ValueError("--words 1 needs --questions 0: what questions read of the lowest layer is kept")
        self.encode.requires_grad_(False)
        if not a.questions:
            self.decide.requires_grad_(False)
        if a.unfreeze:
            self.encode.layers[-a.unfreeze :].requires_grad_(True)
        for layer in self.encode.layers:
            for part in filter(None, a.hold.split(",")):
                getattr(layer, part).requires_grad_(False)
        if a.words:
            self.encode.word.requires_grad_(True)
        if a.reader:
            self.encode.narrow.requires_grad_(True)
            self.encode.about.requires_grad_(True)
        self.at = self.step = self.seen = 0
        if a.runs > 1:
            torch.distributed.init_process_group(
                "gloo", init_method=f"file://{a.meet}", rank=a.run, world_size=a.runs
            )
        self.opt = torch.optim.AdamW(self.groups(), betas=(0.9, 0.98), fused=True)
        # runs that meet tell each other of every weight, also of one that no question of theirs asked for
        for p in self.parameters():
            p.grad = torch.zeros_like(p)
        self.load()
        self.segments = Segments(
            self.encode,
            self.tokens.pad,
            a.device,
            a.unfreeze,
            a.cache_mb,
            half=bool(a.half),
        )
        self.told = torch.load(a.vectors) if a.vectors else None
        if self.told:
            self.told["vectors"] = self.told["vectors"].float().to(a.device)

    def groups(self):
        """Matrices decay, the rest does not; joint layers, readout and encoder have their own rates."""
        a = self.a

        def rate(n):
            return a.lr if n.startswith("joint") else a.lr_read

        ps = [(rate(n), p) for n, p in self.decide.named_parameters()] + [
            (a.lr_read if n.startswith(("narrow", "about")) else a.lr_encode, p)
            for n, p in self.encode.named_parameters()
        ]
        ps = [(r, p) for r, p in ps if p.requires_grad]
        return [
            {
                "params": [p for r, p in ps if r == x and (p.dim() > 1) == m],
                "weight_decay": 0.02 * m,
                "peak": x,
            }
            for x in {r for r, _ in ps}
            for m in (True, False)
        ]

    def parameters(self):
        return [p for g in self.opt.param_groups for p in g["params"]]

    def modules(self):
        return {"encode": self.encode, "decide": self.decide}

    def load(self):
        path = f"{self.a.out}/checkpoint.pt"
        self.mean = None
        going_on = self.a.resume and os.path.exists(path)
        if self.a.init and not going_on:
            cs = [torch.load(p, map_location=self.a.device)["mean"] for p in self.a.init.split(",")]
            for k, m in self.modules().items():
                known = {n: sum(c[k][n] for c in cs) / len(cs) for n in cs[0][k]}
                # weights that are newer than the first start stay as they are
                m.load_state_dict({**m.state_dict(), **known})
        if going_on:
            c = torch.load(path, map_location=self.a.device)
            [m.load_state_dict(c["model"][k]) for k, m in self.modules().items()]
            self.opt.load_state_dict(c["opt"])
            self.at, self.step, self.seen, self.mean = c["at"], c["step"], c["seen"], c["mean"]
            self.rng.seed(self.a.seed + self.step)
            print("resumed at", round(self.at), "s", flush=True)
        if self.mean is None:
            self.mean = {
                k: {n: v.detach().clone() for n, v in m.state_dict().items()}
                for k, m in self.modules().items()
            }

    def save(self, spent):
        os.makedirs(self.a.out, exist_ok=True)
        path = f"{self.a.out}/checkpoint.pt"
        torch.save(
            {
                "model": {k: m.state_dict() for k, m in self.modules().items()},
                "mean": self.mean,
                "opt": self.opt.state_dict(),
                "at": spent,
                "step": self.step,
                "seen": self.seen,
                "args": vars(self.a),
            },
            path + ".tmp",
        )
        os.replace(path + ".tmp", path)

    @torch.no_grad()
    def meet(self, spent):
        """-> whether the time is up. Several runs of one start are one run that takes so many times the questions: now and then they go on
        from the mean of their weights and of what the optimiser remembers (local SGD, Stich, 2019), and they end together."""
        limit = self.a.minutes * 60
        if self.a.runs == 1:
            return spent >= limit
        if self.step % self.a.meet_every:
            return False
        ps = self.parameters()
        for of in (lambda p: p, *(lambda p, k=k: self.opt.state[p][k] for k in ("exp_avg", "exp_avg_sq"))):
            flat = torch.cat([of(p).flatten() for p in ps])
            torch.distributed.all_reduce(flat)
            for p, v in zip(ps, (flat / self.a.runs).split([p.numel() for p in ps])):
                of(p).copy_(v.view_as(p))
        latest = torch.tensor([spent])
        torch.distributed.all_reduce(latest, torch.distributed.ReduceOp.MAX)
        return latest.item() >= limit

    @torch.no_grad()
    def average(self):
        if self.step % AVERAGE_EVERY:
            return
        k = min(self.a.mean, (1 + self.step) / (10 + self.step)) ** AVERAGE_EVERY
        for name, m in self.modules().items():
            for n, v in m.named_parameters():
                if v.requires_grad:
                    self.mean[name][n].lerp_(v, 1 - k)

    def find_centre(self, draw):
        """The mean of what some states and some options are read as, an equal part each."""
        drawn = [draw.draw()[0] for _ in range(self.a.centre)]
        states = [tuple(self.tokens.state(s)) for s, _ in drawn]
        options = [
            tuple(self.tokens.option(o)) for _, qs in drawn for q in qs[:1] for o in q.option_texts()[:2]
        ]
        with torch.no_grad():
            means = [self.segments.whole(list(dict.fromkeys(rows)))[1].mean(0) for rows in (states, options)]
        self.encode.centre.copy_(sum(means) / 2)
        self.mean["encode"]["centre"] = self.encode.centre.clone()

    def pool(self, draw):
        rows, group = [], 0
        while len(rows) < self.a.pool:
            group += 1
            rows += [
                r
                for r in (
                    tokenised(self.tokens, state, q, self.a.window, group)
                    for state, qs in draw.draw()
                    for q in qs
                    if q.type in (self.a.types or q.type)
                )
                if r and prefix_tokens(r) <= self.a.prefix_tokens
            ]
        self.segments.get(list({s for r in rows for s in (r.head, *r.options, r.state)}))
        return batches(rows, self.a, self.rng)

    def update(self, batch, share):
        """One step at the given share of the peak rates, on questions, if there are any, and on vectors -> [(what, value)] of the loss, the
        hits by type, and of the vectors it is told the hits and the cosine."""
        a = self.a
        for g in self.opt.param_groups:
            g["lr"] = g["peak"] * share
        self.opt.zero_grad(set_to_none=False)
        followed = self.answered(batch) if batch else []
        if self.told:
            loss, hits, near = self.told_vectors()
            (a.vectors_weight * loss).backward()
            followed += [("found", hits), ("cosine", near)]
        torch.nn.utils.clip_grad_norm_(self.parameters(), 1.0)
        self.opt.step()
        self.step += 1
        self.seen += len(batch)
        self.average()
        return followed

    def answered(self, batch):
        """What questions add to the gradient -> [(what, value)]"""
        a = self.a
        z, target, mask, qtype = self.logits(batch)
        loss = loss_of(z, target, mask, qtype).sum() / a.batch
        apart = disagreement(z, batch) / a.batch if a.tie else 0.0
        (loss + a.tie * apart).backward()
        hits = (z.argmax(-1) == target.argmax(-1)).tolist()
        kinds = {v: k for k, v in QTYPE.items()}
        return [("loss", loss.item() * a.batch / len(batch))] + [
            (
                kinds[b.qtype]
                + ":"
                + (
                    b.task.removeprefix("derived.")
                    if b.task.startswith("derived.")
                    else metrics.kind_of(b.task)
                ),
                h,
            )
            for b, h in zip(batch, hits)
        ]

    def told_vectors(self):
        """The vectors of some texts against those that vectors.py says they should have: each is to be near its own, and like all other
        English texts as its own is (relational knowledge distillation, Park et al., 2019) -> loss, share nearest to their own, mean cosine."""
        rows = {}
        while len(rows) < self.a.vectors_batch:
            i = self.rng.randrange(len(self.told["rows"]))
            rows[self.told["rows"][i]] = self.told["at"][i]
        own = torch.tensor(list(rows.values()), device=self.a.device)
        should = self.told["vectors"][own]
        with torch.autocast(self.a.device, dtype=torch.bfloat16, enabled=bool(self.a.half)):
            vectors = self.segments.anew(list(rows))
        like, told = (SHARP * x @ self.told["vectors"].T for x in (vectors, should))
        apart = F.kl_div(F.log_softmax(like, -1), F.softmax(told, -1), reduction="batchmean")
        near = (vectors * should).sum(-1).mean()
        found = (like.argmax(-1) == own).float().mean()
        return apart + 1 - near, found.item(), near.item()

    def logits(self, batch):
        """-> logits, targets and mask [n,m], question types [n]."""
        with torch.autocast(self.a.device, dtype=torch.bfloat16, enabled=bool(self.a.half)):
            inputs, target, mask = collate(batch, self.segments, self.a.device)
            z = self.decide(*inputs)
        return z.squeeze(1).float(), target, mask, inputs[7].squeeze(1)

    @torch.no_grad()
    def probabilities(self, asked, weights=None):
        """[(state, Question)] -> [probabilities], in order."""
        own = {k: {n: v.clone() for n, v in m.state_dict().items()} for k, m in self.modules().items()}
        if weights:
            [m.load_state_dict(weights[k]) for k, m in self.modules().items()]
        self.decide.eval()
        rows = [tokenised(self.tokens, s, q, self.a.window) for s, q in asked]
        out = [None] * len(rows)
        order = sorted(
            (i for i, r in enumerate(rows) if r),
            key=lambda i: (len(rows[i].state), len(rows[i].head) + len(rows[i].options)),
        )
        for j in range(0, len(order), 32):
            part = order[j : j + 32]
            z, _, mask, _ = self.logits([rows[i] for i in part])
            for i, p, m in zip(part, z.softmax(-1), mask):
                out[i] = p[: int(m.sum())].tolist()
        self.decide.train()
        [m.load_state_dict(own[k]) for k, m in self.modules().items()]
        return out

    def follow(self, dev, spent):
        rows = [
            dict(of, type=q.type, gold=q.target, p=p)
            for (of, _, q), p in zip(dev, self.probabilities([(s, q) for _, s, q in dev], self.mean))
            if p
        ]
        print(f"DEV t {spent:.0f}s step {self.step} seen {self.seen}", metrics.line(rows), flush=True)

    def run(self, draw, dev):
        a = self.a
        if a.centre and not self.encode.centre.any():
            self.find_centre(draw)
        start = time.time() - self.at
        limit = a.minutes * 60
        said = time.time()
        evaluated = self.at
        ema = {}
        queue = []
        ended = self.at >= limit
        while not ended:
            spent = time.time() - start
            if not queue:
                queue = self.pool(draw) if a.questions else [()]
            share = min(1, (self.step + 1) / 150) * max(a.floor, 1 - spent / limit)
            for k, v in self.update(queue.pop(), share):
                w, first = (0.98, v) if k in ("loss", "found", "cosine") else (0.998, 0.5)
                ema[k] = w * ema.get(k, first) + (1 - w) * v
            if time.time() - said > 30:
                said = time.time()
                print(
                    f"step {self.step} t {spent:.0f}s seen {self.seen} rate {share:.2f}",
                    *(f"{k} {v:.3f}" for k, v in sorted(ema.items())),
                    flush=True,
                )
            if spent - evaluated > a.eval_every * 60 and not a.run:
                evaluated = spent
                self.save(spent)
                self.follow(dev, spent)
            ended = self.meet(spent)
        if not a.run:
            self.save(limit)
            self.follow(dev, limit)


def dev_questions(path, n, seed=3):
    """-> [({source, family, lang}, state text, Question)], n requests drawn evenly over the file."""
    rows = [json.loads(l) for l in open(path, encoding="utf8")]
    rows = random.Random(seed).sample(rows, min(n, len(rows)))
    return [
        (
            {k: r[k] for k in ("source", "family", "lang")},
            text(r["state"]),
            of_record(q, r["gold"][k], r["family"]),
        )
        for r in rows
        for k, q in r["questions"].items()
        if k in r["gold"]
    ]


def main():
    p = argparse.ArgumentParser()
    [p.add_argument("--" + k.replace("_", "-"), default=d, type=type(d)) for k, d in OPTIONS.items()]
    a = p.parse_args()
    tasks, rows = read(a.data, a.lang or None, a.more.split(",") if a.more else ())
    seen = {text(json.loads(l)["state"]) for l in open(a.dev, encoding="utf8")}
    draw = Draw(
        tasks,
        rows,
        json.load(open(a.suite)),
        seen,
        random.Random(a.seed),
        json.loads(a.shares or "null"),
        a.longest,
        [line.strip() for line in gzip.open(a.filler, "rt", encoding="utf8")] if a.filler else (),
        a.hidden,
        a.hidden_in,
        a.quoted,
    )
    print(draw.sizes(), flush=True)
    t = Trainer(a)
    draw.rng = t.rng
    t.run(draw, dev_questions(a.dev, a.eval_n))


if __name__ == "__main__":
    main()
