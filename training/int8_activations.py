"""What it would bring, and cost, to multiply a shipped `encode` in whole numbers: 8-bit activations beside weights of 8 or 7 bits.

usage: int8_activations.py --dev dev.jsonl --texts texts.txt.gz [--questions 2000] [--runs 40] CHECKPOINT_DIR
Prints, way by way, the argmax agreement and mean |dp| with the checkpoint as it is, and how much faster `encode` gets. Nothing
that ships is made by it: docs/decisions/0014 says why. Smoothing as in SmoothQuant (ICML 2023), rounding in turn as in GPTQ (ICLR
2023); sums of whole numbers are exact, and a scale belongs to a row, so an answer would not depend on its batch.
"""

import argparse
import gzip
import itertools
import os
import random
import shutil
import tempfile
import time
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import metrics
from checkpoint import Checkpoint, measured, opened
from export import asking
from float_matmul import float_weights

HEADS = ("/match", "/compare", "/k", "/v")  # products that make what `decide` takes: little work
SHAPES = ((1, 200), (8, 60))  # texts, tokens
ROWS = 6000  # tokens of texts that scales and rounding are found from
LEAST = 0.1701  # GELU gives no less than -LEAST
DAMP = 0.01  # of the mean diagonal, added to what `in_turn` inverts


@dataclass(frozen=True)
class Way:
    name: str
    static: bool = False  # one scale a product, from texts; else one a row, from the row
    alpha: float = 0.0  # how much of a channel's size moves to the weights
    kept: tuple = ()  # products that stay as they are
    weights: int = 127  # 63 where 8-bit products of two must fit 16 bits: processors without VNNI
    careful: bool = False  # channels centred, GELU's 8 bits without a sign, weights rounded in turn, the mean error in the bias


WAYS = (
    Way("a scale a product", static=True),
    Way("a scale a row"),
    Way("smoothed", alpha=0.5),
    Way("and heads, `down` in float", alpha=0.5, kept=(*HEADS, "down")),
    Way("and weights of 7 bits", alpha=0.5, kept=(*HEADS, "down"), weights=63),
    Way("heads alone in float, 7 bits", alpha=0.5, kept=HEADS, weights=63),
    Way("and careful", alpha=0.5, kept=HEADS, weights=63, careful=True),
    Way("careful, 8 bits", alpha=0.5, kept=HEADS, careful=True),
)


def unpacked(graph):
    """{name: weights [K,N]} of the products whose 8-bit blocks float_matmul.py unpacks."""
    values = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    return {
        n.output[0]: float_weights(n, values).T.copy() for n in graph.node if n.op_type == "DequantizeLinear"
    }


def products(graph, weights):
    return [n for n in graph.node if n.op_type == "FusedMatMul" and n.input[1] in weights]


def sample(path, texts, seed=1):
    """{input of a product: x [ROWS,K]}: tokens drawn from texts (token id lists), as products see them."""
    graph = (model := onnx.load(path)).graph
    names = sorted({n.input[0] for n in products(graph, unpacked(graph))})
    graph.output.extend(helper.make_tensor_value_info(x, TensorProto.FLOAT, None) for x in names)
    session = opened(model.SerializeToString())
    rng, share = np.random.default_rng(seed), ROWS / sum(map(len, texts))
    seen = {x: [] for x in names}
    for ids in texts:
        feed, drawn = np.array([ids], np.int64), rng.random(len(ids)) < share
        for x, v in zip(names, session.run(names, {"input_ids": feed, "attention_mask": np.ones_like(feed)})):
            seen[x].append(v.reshape(len(ids), -1)[drawn])
    return {x: np.concatenate(v) for x, v in seen.items()}


def at_once(w, most):
    """Weights w [K,N] -> whole numbers of at most `most` and a scale a column, each rounded by itself."""
    scale = (np.maximum(np.abs(w).max(0), 1e-12) / most).astype(np.float32)
    return np.rint(w / scale).astype(np.int8), scale


def narrowed(w, weight, most):
    """The scale of each column of w [K,N] that loses least, rows weighed: from .7 to all of its largest."""
    top = np.maximum(np.abs(w).max(0), 1e-12)
    best, least = top / most, np.full(w.shape[1], np.inf)
    for part in np.linspace(0.7, 1, 13):
        scale = top * part / most
        lost = (weight[:, None] * (w - np.clip(np.rint(w / scale), -most, most) * scale) ** 2).sum(0)
        best, least = np.where(lost < least, scale, best), np.minimum(lost, least)
    return best.astype(np.float32)


def in_turn(w, x, most, block=128):
    """As at_once, so that x [T,K] @ (whole * scale) is close to x @ w: a row makes up for the errors of those rounded before."""
    h = (x.T @ x).astype(np.float64)
    h[np.diag_indices_from(h)] += DAMP * h.diagonal().mean() + 1e-9
    scale = narrowed(w, h.diagonal(), most)
    order = np.argsort(-h.diagonal())
    up = np.linalg.cholesky(np.linalg.inv(h[order][:, order])).T.astype(np.float32)  # up.T @ up: the inverse
    w, whole = w[order].copy(), np.zeros(w.shape, np.int8)
    for at in range(0, len(w), block):
        end = min(at + block, len(w))
        error = np.zeros((end - at, w.shape[1]), np.float32)
        for i in range(at, end):
            whole[i] = np.clip(np.rint(w[i] / scale), -most, most)
            error[i - at] = (w[i] - whole[i] * scale) / up[i, i]
            w[i + 1 : end] -= np.outer(up[i, i + 1 : end], error[i - at])
        w[end:] -= up[at:end, end:].T @ error
    return whole[np.argsort(order)], scale


class Rewrite:
    """A graph whose products of float weights become products of whole numbers."""

    def __init__(self, graph, way, seen):
        self.graph, self.way, self.seen, self.rows = graph, way, seen, {}
        self.weights = unpacked(graph)
        self.values = {i.name: i for i in graph.initializer}
        self.made = []
        self.size = {}
        self.unsigned = {
            n.input[0] for n in products(graph, self.weights) if way.careful and "/down" in n.name
        }
        for n in products(graph, self.weights):
            size = np.abs(self.weights[n.input[1]]).max(1)
            self.size[n.input[0]] = np.maximum(self.size.get(n.input[0], 0), size)

    def put(self, name, value):
        if name not in self.values:
            self.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
            self.values[name] = self.graph.initializer[-1]
        return name

    def node(self, op, inputs, output, **attributes):
        self.made.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def centre(self, x):
        """What is taken from the channels of x before they are rounded, [K]."""
        if x in self.unsigned:
            return np.full_like(self.seen[x][0], -LEAST)
        return self.seen[x].mean(0) if self.way.careful else np.zeros_like(self.seen[x][0])

    def smoothing(self, x):
        """What the channels of x are divided by then, [K]."""
        a, top = self.way.alpha, np.maximum(np.abs(self.seen[x] - self.centre(x)).max(0), 1e-4)
        return top**a / np.maximum(self.size[x], 1e-4) ** (1 - a) if a else np.ones_like(top)

    def whole(self, x):
        """x [..., K] -> its 8 bits, the scale of each row [..., 1] (or of all), and the sample of x as rounded; once for all
        products of x."""
        if x in self.rows:
            return self.rows[x]
        p, y, by, most = f"{x}_int_", x, self.smoothing(x), 255 if x in self.unsigned else 127
        if self.way.careful:
            y = self.node("Sub", [y, self.put(p + "centre", self.centre(x))], p + "centred")
        if self.way.alpha:
            y = self.node("Mul", [y, self.put(p + "by", (1 / by).astype(np.float32))], p + "smooth")
        even = (self.seen[x] - self.centre(x)) / by
        steps = np.maximum(np.abs(even).max(1, keepdims=True), 1e-9) / most
        if self.way.static:
            steps = np.abs(even).max() / most
            scale = self.put(p + "scale", np.float32(steps))
            bits = self.node("QuantizeLinear", [y, scale, self.zero(x)], p + "q")
        else:
            size = y if x in self.unsigned else self.node("Abs", [y], p + "abs")
            size = self.node("ReduceMax", [size, self.put("int_last", np.array([-1]))], p + "max", keepdims=1)
            size = self.node("Max", [size, self.put("int_tiny", np.float32(1e-9))], p + "least")
            scale = self.node("Mul", [size, self.put(f"int_{most}", np.float32(1 / most))], p + "scale")
            bits = self.by_row(y, scale, x, p)
        back = np.clip(np.rint(even / steps), 0 if most == 255 else -127, most) * steps
        self.rows[x] = bits, scale, back.astype(np.float32)
        return self.rows[x]

    def zero(self, x):
        """The 8 bits that stand for zero."""
        n = 0 if x in self.unsigned else 128
        return self.put(f"int_zero_{n}", np.uint8(n))

    def by_row(self, y, scale, x, p):
        flat = self.node("Reshape", [scale, self.put("int_flat", np.array([-1]))], p + "scales")
        rows = self.node("Shape", [flat], p + "rows")
        zeros = self.node("Expand", [self.zero(x), rows], p + "z")
        two = self.node("Reshape", [y, self.put(p + "width", np.array([-1, len(self.size[x])]))], p + "2d")
        shape = self.node("Shape", [y], p + "shape")
        return self.node(
            "Reshape", [self.node("QuantizeLinear", [two, flat, zeros], p + "q2d", axis=0), shape], p + "q"
        )

    def product(self, n):
        x, y = n.input[0], n.output[0]
        bits, scale, back = self.whole(x)
        w = self.weights[n.input[1]]
        even = w * self.smoothing(x)[:, None]
        if self.way.careful:
            w8, per = in_turn(even, back, self.way.weights)
            self.move(n, (self.seen[x] @ w - back @ (w8 * per)).mean(0))
        else:
            w8, per = at_once(even, self.way.weights)
        p = f"{n.input[1]}_int_"
        weights, one = self.put(p + "w", w8), self.put("int_one", np.float32(1))
        real = self.node(
            "MatMulIntegerToFloat",
            [bits, weights, one, self.put(p + "s", per), self.zero(x)],
            y + "_f",
            domain="com.microsoft",
        )
        self.node("Mul", [real, scale], y)

    def move(self, n, off):
        """What a product is short of, on the mean, goes into the bias that is added to it."""
        add = next(a for a in self.graph.node if a.op_type == "Add" and n.output[0] in a.input)
        k = next(k for k, i in enumerate(add.input) if i != n.output[0])
        old = self.values.pop(add.input[k])
        self.graph.initializer.remove(old)
        bias = numpy_helper.to_array(old)
        add.input[k] = self.put(n.name + "_int_bias", (bias + off).astype(np.float32))

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


def drawn(path, tokens, seed=1):
    """Token id lists of some 16,000 tokens: one line of a file of texts, or up to twelve."""
    rng, out = random.Random(seed), []
    with gzip.open(path, "rt", encoding="utf8") as f:
        lines = [line.strip() for line in itertools.islice(f, 0, 60000, 30)]
    rng.shuffle(lines)
    while lines and sum(map(len, out)) < 16000:
        n = rng.choice((1, 1, 2, 4, 8, 12))
        out.append(tokens.state(" ".join(lines[:n]))[:250])
        del lines[:n]
    return out


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
    seen = sample(f"{a.checkpoint}/encode.onnx", drawn(a.texts, as_it_is.tokens))
    told = measured(as_it_is, asked)
    with tempfile.TemporaryDirectory() as work:
        paths = {}
        for k, way in enumerate(WAYS):
            paths[way] = f"{work}/{k}"
            shutil.copytree(a.checkpoint, paths[way])
            model = onnx.load(f"{a.checkpoint}/encode.onnx")
            Rewrite(model.graph, way, seen).run()
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
