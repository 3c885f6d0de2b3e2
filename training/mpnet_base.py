"""all-mpnet-base-v2 as a base for an English checkpoint: without the pieces that English text does not use, and its upper
layers where asked.

usage: mpnet_base.py FOLDER OUT [LAYERS]
FOLDER: `config.json`, `model.safetensors`, `tokenizer.json` of the model (Apache-2.0; see README.md for where they come from).
Its tokenizer holds BERT's special pieces beside its own, never trained: here they say what its own do, and `<s>`, where attention
rests, leads every segment (`lead_token_id`).
Left out are the unused pieces and those of other scripts than Latin: 2 MB of 23. What they stood for is read as [UNK].
LAYERS: how many layers to keep, from the lowest; all without it.
"""

import json
import os
import sys
import unicodedata

import torch
from safetensors.torch import load_file, save_file

OTHER_SCRIPTS = set(
    "CJK KATAKANA HIRAGANA KATAKANA-HIRAGANA IDEOGRAPHIC HANGUL ARABIC CYRILLIC HEBREW ARMENIAN GEORGIAN THAI TIBETAN MYANMAR "
    "BENGALI DEVANAGARI TAMIL SINHALA KANNADA".split()
)
OWN = {"[CLS]": "<s>", "[SEP]": "</s>", "[MASK]": "<mask>", "[PAD]": "<pad>"}


def used(piece):
    """Whether English text can hold this piece."""
    if piece.startswith("[unused"):
        return False
    return not any(unicodedata.name(c, "").split(" ")[0] in OTHER_SCRIPTS for c in piece)


def main():
    source, out, *layers = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    tokenizer = json.load(open(f"{source}/tokenizer.json", encoding="utf8"))
    vocab = tokenizer["model"]["vocab"]
    kept = [piece for piece, _ in sorted(vocab.items(), key=lambda x: x[1]) if used(piece)]
    place = {piece: i for i, piece in enumerate(kept)}
    tokenizer["model"]["vocab"] = place
    tokenizer["truncation"] = tokenizer["padding"] = None
    for token in tokenizer["added_tokens"]:
        token["id"] = place[token["content"]]
    for key in ("sep", "cls"):
        piece = tokenizer["post_processor"][key][0]
        tokenizer["post_processor"][key] = [piece, place[piece]]
    json.dump(tokenizer, open(f"{out}/tokenizer.json", "w", encoding="utf8"), ensure_ascii=False)
    w = load_file(f"{source}/model.safetensors")
    word = "embeddings.word_embeddings.weight"
    w[word] = w[word][torch.tensor([vocab[OWN.get(piece, piece)] for piece in kept])].contiguous()
    config = json.load(open(f"{source}/config.json", encoding="utf8"))
    every = config["num_hidden_layers"]
    lowest = int(layers[0]) if layers else every
    above = tuple(f"encoder.layer.{i}." for i in range(lowest, every))
    save_file({k: v for k, v in w.items() if not k.startswith(above)}, f"{out}/model.safetensors")
    json.dump(
        config | {"num_hidden_layers": lowest, "lead_token_id": place["<s>"]},
        open(f"{out}/config.json", "w", encoding="utf8"),
        indent=2,
    )
    print(f"{len(kept)} pieces of {len(vocab)}, {lowest} layers of {every}")


if __name__ == "__main__":
    main()
