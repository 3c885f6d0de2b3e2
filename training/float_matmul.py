"""Lets a graph compute in float: replaces every MatMulNBits (whose kernel may round activations to 8 bits) by 8-bit or 4-bit weights
that are unpacked once, when the session opens, and a product of floats.

usage: float_matmul.py IN.onnx OUT.onnx
Why: rounded activations turn the last bit of a float sum, which depends on padding and on the order of options, into
differences of up to 1e-3 in a probability. The file stays as small; the unpacked weights take 4 bytes each in memory, once:
DequantizeLinear is folded in one step and FusedMatMul takes what it gives as it lies (docs/decisions/0017-one-float-copy.md).
A session has to be opened with session.disable_quant_qdq = 1, or the runtime leaves the weights packed and unpacks them at
every call (checkpoint.py and src/engine/session.ts do so).
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, version_converter

OPSET = 21
"""The first whose DequantizeLinear takes a scale a block."""
IR = 10
"""The format that came with it."""
ZERO = {8: (TensorProto.UINT8, 128), 4: (TensorProto.UINT4, 8)}
"""Types of weights and their zero points, by bits."""


def attribute(node, name):
    return next(a.i for a in node.attribute if a.name == name)


def float_weights(node, values):
    """What a DequantizeLinear of float_products gives, [N,K]."""
    packed, scales, zero = (values[i] for i in node.input)
    shape = (*scales.shape, attribute(node, "block_size"))
    blocks = packed.reshape(shape).astype(np.float32) - zero[..., None].astype(np.float32)
    return (blocks * scales[..., None]).reshape(packed.shape)


class Floats:
    """The graph whose weights come unpacked."""

    def __init__(self, graph):
        self.graph = graph
        self.stored = {i.name: i for i in graph.initializer}
        self.unpacked = set()

    def zero(self, shape, bits):
        """The name of zero points, one a block; weights of one shape share them."""
        name = f"zero{bits}_" + "_".join(map(str, shape))
        if name not in self.stored:
            kind, middle = ZERO[bits]
            self.graph.initializer.append(
                helper.make_tensor(name, kind, shape, np.full(shape, middle).flatten())
            )
            self.stored[name] = self.graph.initializer[-1]
        return name

    def reshape(self, name, shape):
        del self.stored[name].dims[:]
        self.stored[name].dims.extend(shape)

    def product(self, node):
        """MatMulNBits -> uint8 or uint4 [N,K/block,block] with a scale each and the zero point in the middle, as [N,K], and the product with it."""
        k, n, block, bits = (attribute(node, a) for a in ("K", "N", "block_size", "bits"))
        assert bits in ZERO and k % block == 0 and len([i for i in node.input if i]) == 3, (
            "symmetric blocks of 8 or 4 bits expected"
        )
        x, packed, scales = node.input[:3]
        name = f"{packed}_float"
        if name not in self.unpacked:
            self.unpacked.add(name)
            self.reshape(packed, (n, k))
            self.reshape(scales, (n, k // block))
            self.stored[packed].data_type = ZERO[bits][0]
            zero = self.zero((n, k // block), bits)
            yield helper.make_node(
                "DequantizeLinear", [packed, scales, zero], [name], axis=1, block_size=block
            )
        yield helper.make_node(
            "FusedMatMul",
            [x, name],
            list(node.output),
            name=node.name + "_float",
            domain="com.microsoft",
            transB=1,
        )


def raised(model):
    """The model in OPSET, without the shapes that the converter writes beside it."""
    model = version_converter.convert_version(model, OPSET)
    model.ir_version = max(model.ir_version, IR)
    del model.graph.value_info[:]
    return model


def float_products(model):
    """The model, in OPSET, with every MatMulNBits replaced."""
    model = raised(model)
    graph, floats = model.graph, Floats(model.graph)
    for node in [n for n in graph.node if n.op_type == "MatMulNBits"]:
        at = list(graph.node).index(node)
        replacement = list(floats.product(node))
        graph.node.remove(node)
        for offset, new in enumerate(replacement):
            graph.node.insert(at + offset, new)
    onnx.checker.check_model(model)
    return model


if __name__ == "__main__":
    onnx.save(float_products(onnx.load(sys.argv[1])), sys.argv[2])
