"""Weight-only 8 bit of an ONNX graph: MatMulNBits (a scale a block) for matrices, int8 rows with a scale each for
embeddings; 4 bits for matrices that were put on such a grid (four_bits.py). Activations stay float, so an answer cannot depend on what
else is in its batch."""

import os

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

import four_bits
from float_matmul import float_products

EMBEDDING = 300_000  # smaller tables stay as they are
LARGEST = 95_000_000  # bytes of a file that can be kept in a repository


def without_aliases(graph):
    """Initialisers renamed by Identity nodes, under their own name again: a shared matrix is then stored once."""
    own = {i.name for i in graph.initializer}
    same = {n.output[0]: n.input[0] for n in graph.node if n.op_type == "Identity" and n.input[0] in own}
    for n in graph.node:
        for k, i in enumerate(n.input):
            n.input[k] = same.get(i, i)
    for n in [n for n in graph.node if n.op_type == "Identity" and n.output[0] in same]:
        graph.node.remove(n)


def repeat_replacements(graph):
    """The quantiser replaces the first use of a shared matrix only: the others follow it."""
    done = {n.input[1]: n for n in graph.node if n.op_type == "MatMulNBits"}
    for n in [n for n in graph.node if n.op_type == "MatMul" and n.input[1] + "_Q8" in done]:
        at = list(graph.node).index(n)
        graph.node.remove(n)
        twin = onnx.NodeProto()
        twin.CopyFrom(done[n.input[1] + "_Q8"])
        twin.name, twin.input[0], twin.output[0] = n.name + "_Q8", n.input[0], n.output[0]
        graph.node.insert(at, twin)
    used = {i for n in graph.node for i in n.input}
    for i in [i for i in graph.initializer if i.name not in used]:
        graph.initializer.remove(i)


def uneven(graph, block):
    """Products whose matrix does not fill whole blocks: they are small and stay as they are."""
    height = {i.name: i.dims[0] for i in graph.initializer if len(i.dims) == 2}
    return [n.name for n in graph.node if n.op_type == "MatMul" and height.get(n.input[1], block) % block]


def embeddings(graph):
    big = {
        i.name: i
        for i in graph.initializer
        if i.data_type == TensorProto.FLOAT and len(i.dims) == 2 and i.dims[0] * i.dims[1] > EMBEDDING
    }
    for n in [n for n in graph.node if n.op_type == "Gather" and n.input[0] in big]:
        name, y = n.input[0], n.output[0]
        w = numpy_helper.to_array(big[name])
        scale = np.abs(w).max(1, keepdims=True).clip(1e-8) / 127
        graph.initializer.remove(big[name])
        graph.initializer.extend(
            [
                numpy_helper.from_array(np.rint(w / scale).astype(np.int8), name + "_q"),
                numpy_helper.from_array(scale.astype(np.float32), name + "_s"),
            ]
        )
        at = list(graph.node).index(n)
        graph.node.remove(n)
        made = [
            helper.make_node("Gather", [name + "_q", n.input[1]], [y + "_q"]),
            helper.make_node("Cast", [y + "_q"], [y + "_f"], to=TensorProto.FLOAT),
            helper.make_node("Gather", [name + "_s", n.input[1]], [y + "_s"]),
            helper.make_node("Mul", [y + "_f", y + "_s"], [y]),
        ]
        for k, m in enumerate(made):
            graph.node.insert(at + k, m)


def in_four_bits(graph):
    """Products with a matrix on a grid of 16 values a block, as MatMulNBits of 4 bits."""
    stored = {i.name: i for i in graph.initializer if len(i.dims) == 2}
    for n in [n for n in graph.node if n.op_type == "MatMul" and n.input[1] in stored]:
        name = n.input[1]
        found = four_bits.grid(torch.from_numpy(numpy_helper.to_array(stored[name]).T.copy()))
        if not found:
            continue
        whole, scales = (x.numpy() for x in found)
        rows, columns = whole.shape
        pairs = (whole - four_bits.LOWEST).astype(np.uint8).reshape(rows, -1, four_bits.BLOCK // 2, 2)
        packed = pairs[..., 0] | pairs[..., 1] << 4
        graph.initializer.remove(stored[name])
        graph.initializer.extend(
            [
                numpy_helper.from_array(packed, name + "_Q4"),
                numpy_helper.from_array(scales, name + "_scales"),
            ]
        )
        taken = helper.make_node(
            "MatMulNBits",
            [n.input[0], name + "_Q4", name + "_scales"],
            list(n.output),
            name=n.name + "_Q4",
            domain="com.microsoft",
            K=columns,
            N=rows,
            bits=4,
            block_size=four_bits.BLOCK,
        )
        at = list(graph.node).index(n)
        graph.node.remove(n)
        graph.node.insert(at, taken)


def set_apart(path):
    """Where a graph is larger than one file may be, its embeddings go to words.bin beside it. -> files made."""
    if os.path.getsize(path) <= LARGEST:
        return []
    model = onnx.load(path)
    words = next(i for i in model.graph.initializer if i.name.endswith("word.weight_q"))
    with open(os.path.join(os.path.dirname(path), "words.bin"), "wb") as f:
        f.write(words.raw_data)
    set_external_data(words, "words.bin", length=len(words.raw_data))
    words.ClearField("raw_data")
    onnx.save(model, path)
    return ["words.bin"]


def quantise(source, out, block=32):
    """Weights of `source` in 8 or 4 bits, products in float and opset 21 (float_matmul.py): `out` answers alike in every batch."""
    from onnxruntime.quantization.matmul_nbits_quantizer import (
        DefaultWeightOnlyQuantConfig,
        MatMulNBitsQuantizer,
    )

    model = onnx.load(source)
    without_aliases(model.graph)
    in_four_bits(model.graph)
    config = DefaultWeightOnlyQuantConfig(block_size=block, is_symmetric=True, bits=8)
    q = MatMulNBitsQuantizer(model, algo_config=config, nodes_to_exclude=uneven(model.graph, block))
    q.process()
    model = q.model.model
    repeat_replacements(model.graph)
    embeddings(model.graph)
    onnx.save(float_products(model), out)
