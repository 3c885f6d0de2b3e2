"""Lets a graph sum the mean over a segment's tokens in one fixed order: the masked ReduceSum becomes a product with the mask.

usage: ordered_mean.py IN.onnx OUT.onnx
Why: onnxruntime sums a batch of one in another order than a batch of two (last bit), and padding must not matter either. A
product adds token by token, and zeros at the end change nothing: a state's answers are then the same to the last bit in any
batch, which is what lets a resumed run write the bytes that an uninterrupted one would have written.
"""

import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper


def ordered_mean(model):
    """The model with sum(hidden [n,s,d] * mask [n,s,1], axis 1) as mask [n,1,s] @ hidden, changed in place."""
    graph = model.graph
    made_by = {name: node for node in graph.node for name in node.output}
    summed = next(n for n in graph.node if n.op_type == "ReduceSum" and is_masked_tokens(n, made_by))
    product = made_by[summed.input[0]]
    hidden, mask = product.input
    at = list(graph.node).index(product)
    graph.node.remove(product)
    graph.node.remove(summed)
    graph.initializer.append(numpy_helper.from_array(np.array([1], np.int64), "mean_axis"))
    replacement = [
        helper.make_node("Transpose", [mask], ["mean_mask"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["mean_mask", hidden], ["mean_sum"]),
        helper.make_node("Squeeze", ["mean_sum", "mean_axis"], list(summed.output)),
    ]
    for offset, node in enumerate(replacement):
        graph.node.insert(at + offset, node)
    onnx.checker.check_model(model)
    return model


def is_masked_tokens(summed, made_by):
    product = made_by.get(summed.input[0])
    if product is None or product.op_type != "Mul":
        return False
    mask = made_by.get(product.input[1])
    return mask is not None and mask.op_type == "Unsqueeze"


if __name__ == "__main__":
    onnx.save(ordered_mean(onnx.load(sys.argv[1])), sys.argv[2])
