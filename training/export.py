"""Exports a training checkpoint as the two graphs that ship, proves them equal to the trained model, and gates the 8-bit copy.

usage: export.py --base DIR --ckpt checkpoint.pt --out DIR --name core-0.3.20 [--dev dev.jsonl --gate 2000]
Two checkpoints (--ckpt a.pt,b.pt --base A,B, of one tokenizer) become one that averages what they say (ensemble.py); --share: how much
the second counts for. fp32 copies stay beside it, in OUT.fp32, and are not part of the checkpoint.
"""

import argparse
import hashlib
import json
import logging
import os
import random
import shutil
import warnings

import numpy as np
import onnx
import torch

import metrics
from checkpoint import Checkpoint, measured, requests
from ensemble import ensemble
from model import models
from ordered_sums import ordered_sums
from quantise import quantise, set_apart
from segments import Segments, Tokens, collate
from sources import Question
from train import tokenised

PREFIX = [
    "prefix_hidden",
    "prefix_mask",
    "prefix_part",
    "marker",
    "marker_mask",
    "head_pooled",
    "option_pooled",
    "qtype",
]
STATE = ["state_hidden", "state_mask", "state_pooled"]
AXES = {
    **{n: {0: "q", 1: "p"} for n in PREFIX[:3]},
    **{n: {0: "q", 1: "m"} for n in ("marker", "marker_mask", "option_pooled")},
    "head_pooled": {0: "q"},
    "qtype": {0: "q"},
    "state_hidden": {0: "r", 2: "s"},
    "state_mask": {0: "r", 1: "s"},
    "state_pooled": {0: "r"},
    "logits": {0: "r", 1: "q", 2: "m"},
}
EXAMPLE = [
    (
        "the bank closed my account today, please call me back",
        Question("noul", "Is it urgent?", [("false", None), ("true", None)], [1, 0]),
    ),
    (
        "a lovely match",
        Question(
            "choice",
            "What is it about?",
            [("sport", "games"), ("money", None), ("weather and the sea", None)],
            [1, 0, 0],
        ),
    ),
]


class Reading(torch.nn.Module):
    """Encode as it ships: with what any question reads of a state (`Decide.state`) as its hidden states."""

    def __init__(self, encode, decide):
        super().__init__()
        self.encode, self.decide = encode, decide

    def forward(self, input_ids, attention_mask):
        hidden, pooled = self.encode(input_ids, attention_mask)
        return self.decide.state(hidden), pooled


class Shared(torch.nn.Module):
    """Decide as the contract has it: one question set for all states."""

    def __init__(self, decide):
        super().__init__()
        self.decide = decide

    def forward(self, *x):
        return self.decide.decide(*(t.unsqueeze(0) for t in x[:8]), *x[8:])


def quiet():
    """The exporter warns of every constant that it folds."""
    warnings.simplefilter("ignore")
    logging.disable(logging.INFO)


def load(base, path, window):
    c = torch.load(path, map_location="cpu")
    print(path, "step", c["step"], "questions seen", c["seen"])
    a = c["args"]
    encode, decide = models(base, a["depths"], a.get("reader", ""))
    encode.load_state_dict(c["mean"]["encode"])
    decide.load_state_dict(c["mean"]["decide"])
    encode.window = decide.window = window
    return encode.eval(), decide.eval()


def shared(encode, decide, tokens):
    """-> inputs of Decide: two questions, two states. They must equal each pair on its own."""
    rows = [tokenised(tokens, s, q, 512) for s, q in EXAMPLE]
    segments = Segments(encode, tokens.pad, "cpu")
    with torch.no_grad():
        pairs = [[r, rows[j]] for r in rows for j in range(2)]
        pairs = [q._replace(state=s.state) for q, s in pairs]
        alone, _, _ = collate(pairs, segments, "cpu")
        whole = decide(*alone).view(2, 2, -1)
        x, _, mask = collate(rows, segments, "cpu")
        state, mask_of, pooled = decide.state(x[8]), *x[9:11]
        if encode.window > encode.block + 1:  # as Encode gives it where it cuts blocks
            state = torch.cat([state, pooled[:, None, None].expand(-1, 1, state.size(2), -1)], 1)
        x = [t.squeeze(1) for t in x[:8]] + [state, mask_of, pooled]
        gap = float(((whole.transpose(0, 1) - Shared(decide)(*x)).abs() * mask[None]).max())
    assert gap < 1e-3, gap
    print("shared question sets equal single pairs to", f"{gap:.1e}")
    return x


def side_by_side(examples):
    """Inputs of Decide for several members -> those of an ensemble: what is of a member's width side by side, all else is the same."""
    names = PREFIX + STATE
    wide = {"prefix_hidden", "head_pooled", "option_pooled", "state_hidden", "state_pooled"}
    return [torch.cat(x, -1) if n in wide else x[0] for n, x in zip(names, zip(*examples))]


def export(members, share, tokens, out):
    """Traces both graphs of one or two [(Encode, Decide)] on two questions and two states."""
    os.makedirs(out, exist_ok=True)
    example = side_by_side([shared(*m, tokens) for m in members])
    encode, decide = ensemble(*zip(*members), share)
    with torch.no_grad():
        ids = (
            torch.tensor([[101, 2003, 102, 0], [2003, 2009, 2204, 102]])
            if tokens.cls == 101
            else torch.tensor([[tokens.cls, 5, tokens.sep, tokens.pad], [5, 6, 7, tokens.sep]])
        )
        torch.onnx.export(
            Reading(encode, decide).eval(),
            (ids, (ids != tokens.pad).long()),
            f"{out}/encode.onnx",
            input_names=["input_ids", "attention_mask"],
            output_names=["hidden", "pooled"],
            opset_version=17,
            dynamo=False,
            dynamic_axes={
                "input_ids": {0: "n", 1: "s"},
                "attention_mask": {0: "n", 1: "s"},
                "hidden": {0: "n", 2: "s"},
                "pooled": {0: "n"},
            },
        )
        torch.onnx.export(
            Shared(decide).eval(),
            tuple(example),
            f"{out}/decide.onnx",
            input_names=PREFIX + STATE,
            output_names=["logits"],
            opset_version=17,
            dynamo=False,
            dynamic_axes=AXES,
        )
    declared(f"{out}/decide.onnx", encode.width)


def declared(path, width):
    """Names `state_pooled` among a graph's inputs, as the contract does, where the exporter left it out: blocks bring means of their own."""
    model = onnx.load(path)
    if "state_pooled" not in {i.name for i in model.graph.input}:
        model.graph.input.append(
            onnx.helper.make_tensor_value_info("state_pooled", onnx.TensorProto.FLOAT, ["r", width])
        )
        onnx.save(model, path)


def pieces(base):
    """{piece: id} of a base's tokenizer."""
    with open(f"{base}/tokenizer.json", encoding="utf8") as f:
        tokenizer = json.load(f)
    return tokenizer["model"]["vocab"]


def manifest(out, members, tokens, a, data=()):
    def sha(f):
        return hashlib.sha256(open(f"{out}/{f}", "rb").read()).hexdigest()

    files = ["encode.onnx", "decide.onnx", "tokenizer.json", *data]
    json.dump(
        dict(
            name=a.name,
            family="core",
            description=a.description,
            languages=a.languages.split(","),
            release_date=a.release_date,
            graphs=dict(encode="encode.onnx", decide="decide.onnx"),
            tokenizer="tokenizer.json",
            **({"data": list(data)} if data else {}),
            window=a.window,
            hidden_size=sum(encode.width for encode, _ in members),
            depths=members[0][0].depths,
            special_tokens=tokens.special,
            calibration={},
            sha256={f: sha(f) for f in files},
        ),
        open(f"{out}/checkpoint.json", "w"),
        indent=1,
    )


def alike(out, longest=40):
    """A segment must be read, and a state answered, the same to the last bit alone and beside others, at any padding: a resumed run
    rests on it."""
    model, rng = Checkpoint(out), np.random.default_rng(1)
    # padded by up to 9, and a token may lead: no more positions than the window
    for n in [*range(2, longest), min(700, model.manifest["window"] - 10)]:
        row = rng.integers(1000, 3000, n)

        def read(copies, width, row=row, n=n):
            ids = np.pad(
                np.tile(row, (copies, 1)), ((0, 0), (0, width - n)), constant_values=model.tokens.pad
            )
            mask = np.tile((np.arange(width) < n).astype(np.int64), (copies, 1))
            hidden, pooled = model.encode.run(
                ["hidden", "pooled"], {"input_ids": ids.astype(np.int64), "attention_mask": mask}
            )
            return hidden[0][:, :n], pooled[0]

        alone = read(1, n)
        for width in (n + 1, n + 2, n + 9):
            for a, b in zip(alone, read(2, width)):
                assert np.array_equal(a, b), f"{n} tokens are read otherwise when padded to {width}"
    levels = [(str(i), said) for i, said in enumerate(("can wait", "this week", "today"))]
    asked = [q for _, q in EXAMPLE] + [
        Question("score", f"How urgent is it for {x}?", levels, [1, 0, 0]) for x in "abc"
    ]
    prefix = model.prefix(asked)
    # the longest are some 400 tokens: several blocks, where a checkpoint cuts them
    times = (0, 1, 2, 3, 60, 130)
    states = [model.tokens.state(s + " and nobody answered" * k) for s, _ in EXAMPLE for k in times]

    def decided(rows, width):
        hidden = np.zeros((len(rows), len(rows[0][0]), width, rows[0][1].shape[0]), np.float32)
        mask = np.zeros((len(rows), width), np.int64)
        for i, (h, _) in enumerate(rows):
            hidden[i, :, : h.shape[1]], mask[i, : h.shape[1]] = h, 1
        state = dict(state_hidden=hidden, state_mask=mask, state_pooled=np.stack([p for _, p in rows]))
        return model.decide.run(["logits"], {**prefix, **state})[0]

    rows = model.read(states)
    for i, row in enumerate(rows):
        alone = decided([row], row[0].shape[1])[0]
        for others in (1, 2, 7):
            beside = decided(
                [row, *(rows[:i] + rows[i + 1 :])[:others]], max(h.shape[1] for h, _ in rows) + 3
            )
            assert np.array_equal(alone, beside[0]), f"state {i} is answered otherwise beside {others} others"
    print("segments are read, and questions answered, alike to the last bit, alone and beside others")


def asking(dev, questions):
    """Requests of dev, drawn until there are so many questions."""
    asked, some, total = requests(dev), [], 0
    random.Random(1).shuffle(asked)
    for r, qs in asked:
        if total < questions:
            some.append((r, qs))
            total += len(qs)
    return some


def gate(out, full, dev, n):
    """8 bit against fp32 on n dev questions: argmax agreement >= 99 %, mean |dp| <= .01."""
    some = asking(dev, n)
    a, b = measured(Checkpoint(full), some), measured(Checkpoint(out), some)
    agree, gap = metrics.agreement(a, b)
    print(
        f"gate on {len(a)} questions: argmax agrees {agree:.4f} (>= .99), mean |dp| {gap:.4f} (<= .01)",
        "passed" if agree >= 0.99 and gap <= 0.01 else "FAILED",
    )


def main():
    p = argparse.ArgumentParser()
    for k, d in dict(
        base="",
        ckpt="",
        out="",
        name="core",
        window=512,
        block=32,  # weights of `encode` that share a scale
        decide_block=32,  # and of `decide`
        share=0.3,  # of two checkpoints, what the second's answer counts for
        dev="",
        gate=2000,
        languages="en",
        release_date="2026-11-21",
        description="",
        yes=0.0,  # added to the logit of yes: what calibrate.py says it lacks
    ).items():
        p.add_argument("--" + k.replace("_", "-"), default=d, type=type(d))
    a = p.parse_args()
    quiet()
    bases, paths = a.base.split(","), a.ckpt.split(",")
    if any(pieces(base) != pieces(bases[0]) for base in bases):
        raise SystemExit(
            f"{a.base}: their tokenizer.json differ, and members read the same tokens; same_pieces.py"
        )
    tokens = Tokens(f"{bases[0]}/tokenizer.json")
    members = [load(base, path, a.window) for base, path in zip(bases, paths, strict=True)]
    with torch.no_grad():
        for _, decide in members:
            decide.yes.bias += a.yes
    full = a.out.rstrip("/") + ".fp32"
    export(members, a.share, tokens, full)
    os.makedirs(a.out, exist_ok=True)
    for g in ("encode", "decide"):
        quantise(f"{full}/{g}.onnx", f"{a.out}/{g}.onnx", a.block if g == "encode" else a.decide_block)
    onnx.save(ordered_sums(onnx.load(f"{a.out}/decide.onnx")), f"{a.out}/decide.onnx")
    data = set_apart(f"{a.out}/encode.onnx")
    for d, apart in ((full, ()), (a.out, data)):
        shutil.copy(f"{bases[0]}/tokenizer.json", d)
        manifest(d, members, tokens, a, apart)
    print({f: round(os.path.getsize(f"{a.out}/{f}") / 1e6, 1) for f in sorted(os.listdir(a.out))}, "MB")
    alike(a.out)
    if a.dev:
        gate(a.out, full, a.dev, a.gate)


if __name__ == "__main__":
    main()
