"""A BERT base with the pieces of another tokenizer, so that both read the same tokens (ensemble.py). other_pieces.py puts a run's
checkpoint on it.

usage: same_pieces.py FOLDER OUT --as models/core-0.3.20/tokenizer.json
FOLDER: `config.json`, `model.safetensors`, `tokenizer.json`. Pieces that are mpnet's own (`OWN` of mpnet_base.py) are read as BERT's.
"""

import argparse
import json
import os
import shutil

import torch
from safetensors.torch import load_file, save_file

from mpnet_base import OWN

BERTS = {own: bert for bert, own in OWN.items()} | {"<unk>": "[UNK]"}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("source")
    p.add_argument("out")
    p.add_argument("--as", dest="like", required=True)
    a = p.parse_args()
    os.makedirs(a.out, exist_ok=True)
    own, like = (
        json.load(open(path, encoding="utf8"))["model"]["vocab"]
        for path in (f"{a.source}/tokenizer.json", a.like)
    )
    pieces = [BERTS.get(piece, piece) for piece in sorted(like, key=like.get)]
    missing = [piece for piece in pieces if piece not in own]
    if missing:
        raise SystemExit(
            f"{a.source} knows no {missing[0]!r}, and {len(missing) - 1} other pieces of {a.like}"
        )
    w = load_file(f"{a.source}/model.safetensors")
    (word,) = (k for k in w if k.endswith("embeddings.word_embeddings.weight"))
    w[word] = w[word][torch.tensor([own[piece] for piece in pieces])].contiguous()
    save_file(w, f"{a.out}/model.safetensors")
    config = json.load(open(f"{a.source}/config.json", encoding="utf8"))
    with open(f"{a.out}/config.json", "w", encoding="utf8") as f:
        json.dump(config | {"vocab_size": len(pieces)}, f, indent=2)
    shutil.copy(a.like, f"{a.out}/tokenizer.json")
    print(f"{len(pieces)} pieces of {len(own)}")


if __name__ == "__main__":
    main()
