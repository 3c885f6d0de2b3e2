"""A shipped checkpoint as a start for training: its 8-bit and 4-bit weights as a run's checkpoint.pt (a thousandth or so off what was trained).

usage: restore.py --base DIR [--reader DIR] --checkpoint models/core-0.3.5 --out restored.pt
An ensemble gives a start for each of its members: --base A,B --reader R, (the second has none) --out a.pt,b.pt
Which tensor of a graph is which weight is not written in it: a model of random weights is exported in the same way and matched.
"""

import argparse
import json
import re
import tempfile

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from export import export, quiet
from float_matmul import float_weights
from model import models
from quantise import without_aliases
from segments import Tokens

PACKED = re.compile(r"(_Q[48])?(_float)?$")
"""What quantise.py and float_matmul.py add to the names of weights and products."""


def both(path):
    """-> {graph and name: array} of the two graphs in a folder."""
    return {f"{g} {n}": x for g in ("encode", "decide") for n, x in tensors(f"{path}/{g}.onnx").items()}


def tensors(path):
    """-> {name: array}: packed matrices [n, k] and rows unpacked; a matrix has the name of the first product that takes it."""
    graph = onnx.load(path).graph
    without_aliases(graph)
    raw = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    floats = {n.output[0]: float_weights(n, raw).T for n in graph.node if n.op_type == "DequantizeLinear"}
    out, taken = {}, set()
    for node in [n for n in graph.node if n.op_type != "DequantizeLinear"]:
        for name in node.input:
            key = PACKED.sub("", name)
            if key in taken or not (name in raw or name in floats):
                continue
            if name.endswith("_q"):
                out[name.removesuffix("_q")] = raw[name] * raw[name.removesuffix("_q") + "_s"]
                continue
            taken.add(key)
            x = floats[name] if name in floats else raw[name]
            out[PACKED.sub("", node.name) if key.startswith("onnx::") else key] = x
    return out


def key_of(x):
    """What a weight and its transpose have in common, and no other weight."""
    x = np.asarray(x, np.float64)
    return x.size, round(float(np.abs(x).sum()), 6)


def matched(module, exported, shipped):
    """The module's weights, out of the shipped tensors that stand where they stood in the export; raises where one is missing."""
    places = {key_of(x): name for name, x in exported.items()}
    for key, w in module.state_dict().items():
        rows = [(w, ...)] if key_of(w) in places else [(row, i) for i, row in enumerate(w)]
        for part, at in rows:
            if key_of(part) not in places:
                raise SystemExit(f"{key} {tuple(w.shape)} is in no tensor of the exported graph")
            name = places[key_of(part)]
            turned = not np.array_equal(exported[name], part)
            new = np.array(shipped[same_place(name, exported, shipped)])
            w[at] = torch.tensor(new.T if turned else new)


def same_place(name, exported, shipped):
    """The shipped tensor's name: the number at its end is another where the code before it has changed since."""

    def alike(other):
        return re.sub(r"_\d+$", "", other) == re.sub(r"_\d+$", "", name)

    if name in shipped:
        return name
    first = name.replace("members.1.", "members.0.")  # of equal tensors an export keeps one
    if first in shipped:
        return first
    others = [
        k for k in shipped if k not in exported and alike(k) and shipped[k].shape == exported[name].shape
    ]
    if len(others) != 1:
        raise SystemExit(f"{name} is not in the shipped graph, and {len(others)} tensors like it")
    return others[0]


def main():
    p = argparse.ArgumentParser()
    for k in ("base", "reader", "checkpoint", "out"):
        p.add_argument("--" + k, default="")
    a = p.parse_args()
    quiet()
    tokens = Tokens(f"{a.checkpoint}/tokenizer.json")
    manifest = json.load(open(f"{a.checkpoint}/checkpoint.json", encoding="utf8"))
    bases, outs = a.base.split(","), a.out.split(",")
    readers = a.reader.split(",") if a.reader else [""] * len(bases)
    members = [models(base, manifest["depths"], reader) for base, reader in zip(bases, readers, strict=True)]
    for encode, decide in members:
        encode.window = decide.window = manifest["window"]
        for w in (*encode.state_dict().values(), *decide.state_dict().values()):
            if w.is_floating_point():
                torch.nn.init.normal_(w, std=0.02) if w.dim() else w.normal_()
        encode.eval(), decide.eval()
    with tempfile.TemporaryDirectory() as skeleton:
        export(members, 0.5, tokens, skeleton)
        exported, shipped = both(skeleton), both(a.checkpoint)
    for (encode, decide), reader, out in zip(members, readers, outs, strict=True):
        for m in (encode, decide):
            matched(m, exported, shipped)
        mean = {"encode": encode.state_dict(), "decide": decide.state_dict()}
        args = {"depths": manifest["depths"], "reader": reader}
        torch.save({"mean": mean, "args": args, "step": 0, "seen": 0}, out)


if __name__ == "__main__":
    main()
