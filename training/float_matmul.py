"""Lets a graph compute in float: replaces every MatMulNBits (whose kernel may round activations to 8 bits) by 8-bit weights
that are unpacked once, when the session opens, and a plain MatMul.

usage: float_matmul.py IN.onnx OUT.onnx
Why: rounded activations turn the last bit of a float sum, which depends on padding and on the order of options, into
differences of up to 1e-3 in a probability. The file stays as small; the unpacked weights take 4 bytes each in memory.
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def attribute(node, name):
    return next(a.i for a in node.attribute if a.name == name)


def unpack(graph, node, values):
    """MatMulNBits -> weights [K,N] from uint8 blocks [N,K/block,block] with a scale each and the zero point 128."""
    k, n, block, bits = (attribute(node, a) for a in ("K", "N", "block_size", "bits"))
    assert bits == 8 and k % block == 0 and len([i for i in node.input if i]) == 3, (
        "symmetric 8-bit blocks expected"
    )
    source, scales = node.input[1], node.input[2]
    name = f"{source}_float"
    if not any(name in other.output for other in graph.node):
        shape = [n, k // block, block]

        def put(suffix, array):
            return (
                graph.initializer.append(numpy_helper.from_array(array, name + suffix)),
                name + suffix,
            )[1]

        if values[scales].ndim != 3:
            graph.initializer.remove(next(i for i in graph.initializer if i.name == scales))
            graph.initializer.append(
                numpy_helper.from_array(values[scales].reshape(n, k // block, 1), scales)
            )
            values[scales] = values[scales].reshape(n, k // block, 1)
        assert list(values[source].shape) == shape
        yield helper.make_node("Cast", [source], [name + "_c"], to=TensorProto.FLOAT)
        yield helper.make_node("Sub", [name + "_c", put("_zero", np.float32(128))], [name + "_z"])
        yield helper.make_node("Mul", [name + "_z", scales], [name + "_m"])
        yield helper.make_node(
            "Reshape", [name + "_m", put("_shape", np.array([n, k], np.int64))], [name + "_r"]
        )
        yield helper.make_node("Transpose", [name + "_r"], [name], perm=[1, 0])
    yield helper.make_node("MatMul", [node.input[0], name], list(node.output), name=node.name + "_float")


def float_products(model):
    """The model with every MatMulNBits replaced, changed in place."""
    graph = model.graph
    values = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    for node in [n for n in graph.node if n.op_type == "MatMulNBits"]:
        at = list(graph.node).index(node)
        replacement = list(unpack(graph, node, values))
        graph.node.remove(node)
        for offset, new in enumerate(replacement):
            graph.node.insert(at + offset, new)
    onnx.checker.check_model(model)
    return model


if __name__ == "__main__":
    onnx.save(float_products(onnx.load(sys.argv[1])), sys.argv[2])
