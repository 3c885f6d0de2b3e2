"""Teaches a checkpoint which block of a long state counts: fits `here` (Decide in model.py) so that the weights of blocks fall on those that
hold a text put among lines about other things. Nothing else in the checkpoint changes.

usage: here.py --base DIR --ckpt checkpoint.pt --dev dev.jsonl --filler text.txt.gz --out taught.pt [--records 170] [--sets 330]
Prints the share of right answers, and of weight on the blocks that hold the text: before, after, and fitted on one half of the texts for the
other. The records that reach.py asks about are left out.
"""

import argparse
import random
import types
from dataclasses import dataclass

import torch

import metrics
from calibrate import half
from checkpoint import requests
from model import FEW
from reach import PLACES, asked_about, lines_of, placed
from sources import text
from train import OPTIONS, Trainer, tokenised

SIZES = (500, 1000, 1000, 1900)
PULL = 0.001  # of the squared distance to what the checkpoint has
NONE = -1e4


@dataclass
class Answer:
    """A question about a long state, asked block by block: probabilities [b,m], what `here` reads [b,d], tokens of each block and the share
    of the text in it [b], the right answer [m]."""

    id: str
    source: str
    p: torch.Tensor
    read: torch.Tensor
    tokens: torch.Tensor
    holds: torch.Tensor
    target: torch.Tensor


def held(start, end, blocks, size):
    """The share of tokens start..end in each block."""
    at = torch.arange(blocks) * size
    inside = (at + size).clamp(max=end) - at.clamp(min=start)
    return inside.clamp(min=0) / (end - start)


@torch.no_grad()
def answers(trainer, asked, lines, rng):
    decide, tokens, size = trainer.decide, trainer.tokens, trainer.decide.long_block
    seen = []
    hook = decide.here.register_forward_pre_hook(lambda _, x: seen.append(x[0].float()))
    for r, questions in asked:
        said = text(r["state"])
        whole = placed(said, rng.choice(PLACES), rng.choice(SIZES), lines, tokens, rng)
        ids, start = tokens.state(whole), len(tokens.ids(whole[: whole.index(said)]))
        blocks = [tuple(ids[i : i + size]) for i in range(0, len(ids), size)]
        if len(blocks) < 2:
            continue
        holds = held(start, start + len(tokens.ids(said)), len(blocks), size)
        for q in questions:
            row = tokenised(tokens, said, q, trainer.a.window)
            if not row or not metrics.decided(dict(type=q.type, gold=q.target)):
                continue
            seen.clear()
            z, *_ = trainer.logits([row._replace(state=b) for b in blocks])
            yield Answer(
                r["id"],
                r["source"],
                z.softmax(-1),
                seen[0].flatten(0, 1),
                torch.tensor([float(len(b)) for b in blocks]),
                holds,
                torch.tensor(q.target),
            )
    hook.remove()


class Answers:
    """Answers padded to the most blocks and options."""

    def __init__(self, rows):
        def padded(name):
            return torch.nn.utils.rnn.pad_sequence([getattr(r, name) for r in rows], batch_first=True)

        options = max(r.p.size(1) for r in rows)
        for r in rows:
            r.p = torch.nn.functional.pad(r.p, (0, options - r.p.size(1)))
            r.target = torch.nn.functional.pad(r.target, (0, options - r.target.size(0)))
        self.p, self.read, self.tokens, self.holds, self.target = map(
            padded, ("p", "read", "tokens", "holds", "target")
        )

    def weights(self, here):
        """Of blocks [n,b], as Decide.over_blocks has them."""
        sure = (self.p * self.p).sum(-1)
        log = self.tokens.clamp(1e-6, FEW).log() + 2 * sure.clamp(min=1e-9).log() + self.read @ here
        return (log + (self.tokens == 0) * NONE).softmax(-1)

    def told(self, name, here):
        w = self.weights(here)
        p = (self.p * w[..., None]).sum(1)
        right = (p.argmax(-1) == self.target.argmax(-1)).float().mean()
        print(
            f"{name:44} right {right:.3f} of {len(p)}, weight where the text is {(w * self.holds).sum(-1).mean():.3f}"
        )

    def fit(self, start):
        """`start` [d], drawn to where the weights fall on blocks that hold the text."""
        here = start.clone().requires_grad_(True)
        search = torch.optim.LBFGS([here], max_iter=300, line_search_fn="strong_wolfe")
        share = self.holds / self.holds.sum(1, keepdim=True)

        def lost():
            search.zero_grad()
            loss = (
                -(share * (self.weights(here) + 1e-8).log()).sum(-1).mean()
                + PULL * ((here - start) ** 2).sum()
            )
            loss.backward()
            return loss

        search.step(lost)
        return here.detach()


def main():
    p = argparse.ArgumentParser()
    for k in ("base", "ckpt", "dev", "filler", "out"):
        p.add_argument("--" + k, required=True)
    p.add_argument("--records", type=int, default=170)
    p.add_argument("--sets", type=int, default=330)
    a = p.parse_args()
    options = OPTIONS | dict(base=a.base, init=a.ckpt, threads=1, window=2048)
    trainer = Trainer(types.SimpleNamespace(**options))
    for k, module in trainer.modules().items():
        module.load_state_dict(trainer.mean[k])
    trainer.decide.eval()
    if not trainer.decide.here:
        raise SystemExit(f"{a.base}: its config has no `block`, so no state is asked block by block")
    asked, rng = requests(a.dev), random.Random(9)
    records, kept = asked_about(asked), {r["id"] for r, _ in asked_about(asked, 60)}
    sets = [x for x in asked if metrics.kind_of(x[0]["source"]) == "sets"]
    some = rng.sample([x for x in records if x[0]["id"] not in kept], a.records) + rng.sample(sets, a.sets)
    rows = list(answers(trainer, some, lines_of(a.filler), rng))
    halves = [
        Answers([r for r in rows if half(dict(id=r.id, source=r.source, family="")) == i]) for i in (0, 1)
    ]
    start = trainer.mean["decide"]["here.weight"][0].float()
    for i, own in enumerate(halves):
        own.told(f"half {i}, before", start)
        own.told(f"half {i}, fitted on the other one", halves[1 - i].fit(start))
    every = Answers(rows)
    here = every.fit(start)
    every.told("all, fitted on all", here)
    taught = torch.load(a.ckpt, map_location="cpu")
    taught["mean"]["decide"]["here.weight"] = here[None]
    torch.save(taught, a.out)


if __name__ == "__main__":
    main()
