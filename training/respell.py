"""Another encoder's pieces for a trained one: a checkpoint that reads what another tokenizer makes of a text, so that two encoders can
share one tokenizer (export.py makes one checkpoint of them).

usage: respell.py --base DIR --init trained.pt --pieces DIR --text texts.txt.gz --out DIR --minutes 10
A new piece starts as the mean of the old pieces that spell it, in the writing (lower case, capitalised, upper case) that takes
fewest. Then pieces and lower layers learn to give each word, read the new way, what the lower layers gave it read the old
way; the layers above them stay. Writes a base (config.json, model.safetensors, tokenizer.json) and checkpoint.pt, a start for train.py.
"""

import argparse
import copy
import gzip
import json
import os
import random
import shutil
import time

import torch
from safetensors.torch import load_file, save_file

from model import models
from segments import Tokens, masks

WORDS = "embeddings.word_embeddings.weight"
LEARNT = 4  # layers from below that learn the new pieces
ROWS = 24  # texts a step
LONGEST = 300  # characters of a text


def spelt(piece, old):
    """The old pieces that spell a new one, a word's beginning or (##) its middle."""
    inside = piece.startswith("##")
    plain = piece.removeprefix("##")
    writings = [plain] if inside else [plain, plain.capitalize(), plain.upper()]
    told = [old.ids(w if inside else " " + w) for w in writings]
    if inside:  # without the mark of a word's beginning, which some tokenizers set before every text
        told = [[i for i in ids if old.tok.id_to_token(i) != "▁"] for ids in told]
    return min(told, key=len)


def start(weights, old, new):
    """-> [new pieces, d]"""
    names = {"cls": new.cls, "sep": new.sep, "mask": new.mask, "pad": new.pad}
    special = {place: getattr(old, name) for name, place in names.items()}
    rows = []
    for i in range(new.tok.get_vocab_size()):
        ids = [special[i]] if i in special else spelt(new.tok.id_to_token(i), old)
        rows.append(weights[ids].mean(0) if ids else weights.mean(0))
    return torch.stack(rows)


def segment(tokens, text, kind):
    """A head, an option or a state -> its ids and, for each, the word it belongs to (-1, -2: what stands before and behind)."""
    e = tokens.tok.encode(text, add_special_tokens=False)
    word, words = -1, []
    for c, char in enumerate(text):
        word += not char.isspace() and (c == 0 or text[c - 1].isspace())
        words.append(word)
    # a piece may begin with the space before its word
    of = [words[min(max(b - 1, a), len(words) - 1)] for a, b in e.offsets]
    before = {"head": [tokens.cls], "option": [tokens.mask], "state": []}[kind]
    behind = [] if kind == "option" else [tokens.sep]
    return before + e.ids + behind, [-1] * len(before) + of + [-2] * len(behind)


def lower(encode, ids, pad):
    """Token id lists -> what the learning layers give [n,s,d], padded."""
    width = max(map(len, ids))
    mask = masks([len(r) for r in ids], width, "cpu")
    x = torch.tensor([r + [pad] * (width - len(r)) for r in ids])
    x = encode.ln(encode.word(x) + encode.pos(torch.arange(width)))
    blocks = encode.blocks(mask)
    for layer in encode.layers[:LEARNT]:
        x = layer(x, blocks)
    return x


def by_word(x, words):
    """[s,d] and the word of each place -> {word: [d]}"""
    out = {}
    for place, word in enumerate(words):
        out.setdefault(word, []).append(x[place])
    return {word: torch.stack(rows).mean(0) for word, rows in out.items()}


def gap(read, told):
    """Mean squared distance of words read both ways, as a share of how far they lie from their mean."""
    pairs = [(a[w], b[w]) for a, b in zip(read, told) for w in a.keys() & b.keys()]
    x, y = (torch.stack(side) for side in zip(*pairs))
    return ((x - y) ** 2).sum() / ((y - y.mean(0)) ** 2).sum()


def drawn(lines, rng):
    """Heads and options (short) and states, a third each -> [(text, kind)]"""
    texts = [(rng.choice(lines), rng.choice(("head", "option", "state"))) for _ in range(ROWS)]
    return [(t if k == "state" else t[: rng.randint(8, 80)].strip() or t, k) for t, k in texts]


def learn(own, encode, tokenizers, lines, a):
    """Pieces and lower layers of `own`, which reads the first tokenizer's pieces, follow `encode`, which reads the second's."""
    rng = random.Random(1)
    own.layers[:LEARNT].requires_grad_(True)
    rates = {own.word: a.lr, own.layers[:LEARNT]: a.lr / 8}
    groups = [{"params": list(m.parameters()), "lr": rate, "peak": rate} for m, rate in rates.items()]
    opt = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
    begun, step, said, mean = time.time(), 0, 0.0, None
    while (spent := (time.time() - begun) / 60) < a.minutes:
        texts = drawn(lines, rng)
        read, told = (list(zip(*(segment(tok, t, k) for t, k in texts))) for tok in tokenizers)
        with torch.no_grad():
            y = [by_word(h, w) for h, w in zip(lower(encode, told[0], tokenizers[1].pad), told[1])]
        x = [by_word(h, w) for h, w in zip(lower(own, read[0], tokenizers[0].pad), read[1])]
        loss = gap(x, y)
        for g in opt.param_groups:
            g["lr"] = g["peak"] * min(1, (step + 1) / 30) * max(0.02, 1 - spent / a.minutes)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([q for g in opt.param_groups for q in g["params"]], 1.0)
        opt.step()
        step += 1
        mean = loss.item() if mean is None else 0.95 * mean + 0.05 * loss.item()
        if step == 1 or spent - said > 1:
            said = spent
            print(f"{spent:.1f} minutes, {step} steps: {mean:.3f} of the variance is left", flush=True)


def write(own, decide, depths, a):
    os.makedirs(a.out, exist_ok=True)
    weights = load_file(f"{a.base}/model.safetensors")
    prefix = next(k for k in weights if k.endswith(WORDS)).removesuffix(WORDS)
    weights[prefix + WORDS] = own.word.weight.detach().clone()
    save_file(weights, f"{a.out}/model.safetensors", metadata={"format": "pt"})
    config = json.load(open(f"{a.base}/config.json", encoding="utf8"))
    config["vocab_size"] = len(own.word.weight)
    json.dump(config, open(f"{a.out}/config.json", "w", encoding="utf8"), indent=1)
    shutil.copy(f"{a.pieces}/tokenizer.json", a.out)
    state = {"encode": own.state_dict(), "decide": decide.state_dict()}
    args = {"depths": depths, "reader": ""}
    torch.save({"mean": state, "args": args, "step": 0, "seen": 0}, f"{a.out}/checkpoint.pt")


def main():
    p = argparse.ArgumentParser()
    for k, d in dict(base="", init="", pieces="", text="", out="", minutes=10.0, threads=1, lr=4e-4).items():
        p.add_argument("--" + k, default=d, type=type(d))
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    old, new = (Tokens(f"{d}/tokenizer.json") for d in (a.base, a.pieces))
    c = torch.load(a.init)
    depths = c["args"]["depths"]
    encode, decide = models(a.base, depths)
    encode.load_state_dict(c["mean"]["encode"])
    decide.load_state_dict(c["mean"]["decide"])
    encode.requires_grad_(False)
    own = copy.deepcopy(encode)
    own.word = torch.nn.Embedding.from_pretrained(start(encode.word.weight, old, new), freeze=False)
    lines = [x.strip()[:LONGEST] for x in gzip.open(a.text, "rt", encoding="utf8")]
    learn(own, encode, (new, old), [x for x in lines if x], a)
    write(own, decide, depths, a)


if __name__ == "__main__":
    main()
