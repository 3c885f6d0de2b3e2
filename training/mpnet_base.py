"""all-mpnet-base-v2 as a base for an English checkpoint, with the pieces that given texts use most.

usage: mpnet_base.py FOLDER OUT [--pieces 22000] TEXT ...
       mpnet_base.py FOLDER OUT --as models/core-0.3.20/tokenizer.json
TEXT: files or patterns, as for e5_base.py. --as: the pieces of a checkpoint that ships, to train it on.
FOLDER: `config.json`, `model.safetensors`, `tokenizer.json` of the model (Apache-2.0; see README.md for where they come from).
Its tokenizer holds BERT's special pieces beside its own, never trained: here they say what its own do, and `<s>`, where attention
rests, leads every segment (`lead_token_id`).
A word whose piece is left out is spelled by shorter ones: 5 MB less of 23.
"""

import argparse
import json
import os

import torch
from safetensors.torch import load_file, save_file

from e5_base import used

EVERY = 1 << 40  # characters of each text that are counted
OWN = {"[CLS]": "<s>", "[SEP]": "</s>", "[MASK]": "<mask>", "[PAD]": "<pad>"}


def kept(vocabulary, counts, pieces, special):
    """-> the pieces used most, in their old order: of those used alike, the ones that the vocabulary names first. Single characters stay, so
    that a word can always be spelled."""
    every = sorted(vocabulary, key=vocabulary.get)
    often = set(sorted(every, key=lambda p: (-counts[vocabulary[p]], vocabulary[p]))[:pieces])
    return [
        p
        for p in every
        if p in special or p in often or (len(p.removeprefix("##")) == 1 and counts[vocabulary[p]])
    ]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("source")
    p.add_argument("out")
    p.add_argument("--pieces", type=int, default=22_000)
    p.add_argument("--as", dest="like", default="")
    p.add_argument("texts", nargs="*")
    a = p.parse_args()
    if bool(a.like) == bool(a.texts):
        p.error("name either texts or, with --as, a tokenizer.json")
    source, out = a.source, a.out
    os.makedirs(out, exist_ok=True)
    tokenizer = json.load(open(f"{source}/tokenizer.json", encoding="utf8"))
    tokenizer["truncation"] = tokenizer["padding"] = None
    vocab = tokenizer["model"]["vocab"]
    special = {token["content"] for token in tokenizer["added_tokens"]} | OWN.keys()
    if a.like:
        shipped = json.load(open(a.like, encoding="utf8"))["model"]["vocab"]
        pieces = sorted(shipped, key=shipped.get)
    else:
        pieces = kept(vocab, used(tokenizer, a.texts, EVERY), a.pieces, special)
    place = {piece: i for i, piece in enumerate(pieces)}
    tokenizer["model"]["vocab"] = place
    for token in tokenizer["added_tokens"]:
        token["id"] = place[token["content"]]
    for key in ("sep", "cls"):
        piece = tokenizer["post_processor"][key][0]
        tokenizer["post_processor"][key] = [piece, place[piece]]
    json.dump(tokenizer, open(f"{out}/tokenizer.json", "w", encoding="utf8"), ensure_ascii=False)
    w = load_file(f"{source}/model.safetensors")
    word = "embeddings.word_embeddings.weight"
    w[word] = w[word][torch.tensor([vocab[OWN.get(piece, piece)] for piece in pieces])].contiguous()
    config = json.load(open(f"{source}/config.json", encoding="utf8"))
    save_file(w, f"{out}/model.safetensors")
    json.dump(
        config | {"lead_token_id": place["<s>"]}, open(f"{out}/config.json", "w", encoding="utf8"), indent=2
    )
    print(f"{len(pieces)} pieces of {len(vocab)}")


if __name__ == "__main__":
    main()
