"""What it would bring, and cost, to multiply a shipped `encode` in whole numbers: 8-bit activations beside the 8-bit weights.

usage: int8_activations.py --dev dev.jsonl --texts texts.txt.gz [--questions 2000] [--runs 40] CHECKPOINT_DIR
Prints, way by way, the argmax agreement and mean |dp| with the checkpoint as it is, and how much faster `encode` gets. Nothing
that ships is made by it: docs/decisions/0014 says why. Smoothing as in SmoothQuant (ICML 2023); sums of whole numbers are exact,
and a scale belongs to a row, so an answer would not depend on its batch.
"""

import argparse
import gzip
import itertools
import os
import shutil
import tempfile
import time
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import metrics
from checkpoint import Checkpoint, measured
from export import asking

HEADS = ("/match", "/compare", "/k", "/v")  # products that make what `decide` takes: little work
SHAPES = ((1, 200), (8, 60))  # texts, tokens


@dataclass(frozen=True)
class Way:
    name: str
    static: bool = False  # one scale a product, from texts; else one a row, from the row
    alpha: float = 0.0  # how much of a channel's size moves to the weights
    kept: tuple = ()  # products that stay as they are
    weights: int = 127  # 63 where 8-bit products of two must fit 16 bits: processors without VNNI


WAYS = (
    Way("a scale a product", static=True),
    Way("a scale a row"),
    Way("smoothed", alpha=0.5),
    Way("and heads, `down` in float", alpha=0.5, kept=(*HEADS, "down")),
    Way("and weights of 7 bits", alpha=0.5, kept=(*HEADS, "down"), weights=63),
)


def unpacked(graph):
    """{name: weights [K,N]} of the products whose 8-bit blocks float_matmul.py unpacks."""
    values = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    scale = {n.output[0].removesuffix("_m"): n.input[1] for n in graph.node if n.op_type == "Mul"}
    out = {}
    for n in graph.node:
        if n.op_type == "Transpose" and n.output[0].removesuffix("_float") in values:
            blocks = values[n.output[0].removesuffix("_float")].astype(np.float32) - 128
            blocks *= values[scale[n.output[0]]].reshape(*blocks.shape[:2], 1)
            out[n.output[0]] = blocks.reshape(len(blocks), -1).T.copy()
    return out


def products(graph, weights):
    return [n for n in graph.node if n.op_type == "MatMul" and n.input[1] in weights]


def largest(path, texts):
    """{input of a product: largest |x| of each channel [K]} over texts (token id lists)."""
    import onnxruntime as ort

    graph = (model := onnx.load(path)).graph
    names = sorted({n.input[0] for n in products(graph, unpacked(graph))})
    graph.output.extend(helper.make_tensor_value_info(x, TensorProto.FLOAT, None) for x in names)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    top = dict.fromkeys(names, 0)
    for ids in texts:
        feed = np.array([ids], np.int64)
        for x, v in zip(names, session.run(names, {"input_ids": feed, "attention_mask": np.ones_like(feed)})):
            top[x] = np.maximum(top[x], np.abs(v).reshape(-1, v.shape[-1]).max(0))
    return top


class Rewrite:
    """A graph whose products of float weights become products of whole numbers."""

    def __init__(self, graph, way, top):
        self.graph, self.way, self.top, self.rows = graph, way, top, {}
        self.weights = unpacked(graph)
        self.made = []
        self.zero = self.put("int_zero", np.uint8(128))
        self.size = {}
        for n in products(graph, self.weights):
            seen = np.abs(self.weights[n.input[1]]).max(1)
            self.size[n.input[0]] = np.maximum(self.size.get(n.input[0], 0), seen)

    def put(self, name, value):
        if all(i.name != name for i in self.graph.initializer):
            self.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op, inputs, output, **attributes):
        self.made.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def smoothing(self, x):
        """What the channels of x are divided by, [K]."""
        a, top, size = self.way.alpha, np.maximum(self.top[x], 1e-4), np.maximum(self.size[x], 1e-4)
        return top**a / size ** (1 - a) if a else np.ones_like(size)

    def whole(self, x):
        """x [..., K] -> its 8 bits and the scale of each row [..., 1] (or of all); once for all products of x."""
        if x in self.rows:
            return self.rows[x]
        p, y, by = f"{x}_int_", x, self.smoothing(x)
        if self.way.alpha:
            y = self.node("Mul", [y, self.put(p + "by", (1 / by).astype(np.float32))], p + "smooth")
        if self.way.static:
            scale = self.put(p + "scale", np.float32((self.top[x] / by).max() / 127))
            bits = self.node("QuantizeLinear", [y, scale, self.zero], p + "q")
        else:
            size = self.node(
                "ReduceMax", [self.node("Abs", [y], p + "abs")], p + "max", axes=[-1], keepdims=1
            )
            size = self.node("Max", [size, self.put("int_tiny", np.float32(1e-9))], p + "least")
            scale = self.node("Mul", [size, self.put("int_unit", np.float32(1 / 127))], p + "scale")
            bits = self.by_row(y, scale, p)
        self.rows[x] = bits, scale
        return self.rows[x]

    def by_row(self, y, scale, p):
        flat = self.node("Reshape", [scale, self.put("int_flat", np.array([-1]))], p + "scales")
        rows = self.node("Shape", [flat], p + "rows")
        zeros = self.node("Expand", [self.put("int_zeros", np.array([128], np.uint8)), rows], p + "z")
        width = self.put(p + "width", np.array([-1, len(self.size[p.removesuffix("_int_")])]))
        two = self.node("Reshape", [y, width], p + "2d")
        shape = self.node("Shape", [y], p + "shape")
        return self.node(
            "Reshape", [self.node("QuantizeLinear", [two, flat, zeros], p + "q2d", axis=0), shape], p + "q"
        )

    def product(self, n):
        bits, scale = self.whole(n.input[0])
        w = self.weights[n.input[1]] * self.smoothing(n.input[0])[:, None]
        per = np.maximum(np.abs(w).max(0), 1e-12) / self.way.weights
        p, y = f"{n.input[1]}_int_", n.output[0]
        w8 = self.put(p + "w", np.rint(w / per).astype(np.int8))
        whole = self.node("MatMulInteger", [bits, w8, self.zero], y + "_i")
        real = self.node("Cast", [whole], y + "_f", to=TensorProto.FLOAT)
        by_column = self.node("Mul", [real, self.put(p + "s", per.astype(np.float32))], y + "_c")
        self.node("Mul", [by_column, scale], y)

    def run(self):
        own = {n.name for n in products(self.graph, self.weights)}
        for n in list(self.graph.node):
            stays = any(n.name.startswith(f) if f[0] == "/" else f"/{f}" in n.name for f in self.way.kept)
            if n.name in own and not stays:
                self.product(n)
            else:
                self.made.append(n)
        del self.graph.node[:]
        self.graph.node.extend(self.made)


def medians(paths, runs):
    """{path: [ms of each of SHAPES]}, asked by turns."""
    sessions = {p: Checkpoint(p).encode for p in paths}
    took = {p: [[] for _ in SHAPES] for p in paths}
    for k, shape in enumerate(SHAPES):
        ids = np.random.default_rng(1).integers(1000, 20000, shape)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        for _ in range(runs):
            for p, s in sessions.items():
                start = time.perf_counter()
                s.run(None, feed)
                took[p][k].append(time.perf_counter() - start)
    return {p: [float(np.median(t)) * 1e3 for t in v] for p, v in took.items()}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--dev", required=True)
    p.add_argument("--texts", required=True)
    p.add_argument("--questions", type=int, default=2000)
    p.add_argument("--runs", type=int, default=40)
    p.add_argument("checkpoint")
    a = p.parse_args()
    asked = asking(a.dev, a.questions)
    as_it_is = Checkpoint(a.checkpoint)
    with gzip.open(a.texts, "rt", encoding="utf8") as f:
        texts = [as_it_is.tokens.state(line[:900])[:200] for line in itertools.islice(f, 0, 20000, 100)]
    top = largest(f"{a.checkpoint}/encode.onnx", texts)
    told = measured(as_it_is, asked)
    with tempfile.TemporaryDirectory() as work:
        paths = {}
        for k, way in enumerate(WAYS):
            paths[way] = f"{work}/{k}"
            shutil.copytree(a.checkpoint, paths[way])
            model = onnx.load(f"{a.checkpoint}/encode.onnx")
            Rewrite(model.graph, way, top).run()
            onnx.save(model, f"{paths[way]}/encode.onnx")
        ms = medians([a.checkpoint, *paths.values()], a.runs)
        print(
            os.path.basename(a.checkpoint), [f"{n} x {s} tokens" for n, s in SHAPES], ms[a.checkpoint], "ms"
        )
        for way, path in paths.items():
            rows = measured(Checkpoint(path), asked)
            same, gap = metrics.agreement(told, rows)
            faster = [round(was / now, 2) for was, now in zip(ms[a.checkpoint], ms[path])]
            print(
                f"{way.name:40} argmax {same:.4f}  |dp| {gap:.4f} of {len(rows)}  encode {faster} times as fast",
                flush=True,
            )


if __name__ == "__main__":
    main()
