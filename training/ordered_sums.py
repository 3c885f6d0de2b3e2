"""Lets a graph add in one fixed order, whatever the padding: sums over tokens, also those of a softmax, become products with
ones, and the comparison of every token with every other is cut into products of at most 128 numbers.

usage: ordered_sums.py IN.onnx OUT.onnx
Why: onnxruntime adds a row of 96 numbers in another order than one of 48, so padding with zeros moves the last bit; and it
cuts a long product at other places where the result has more than 64 columns. Its Softplus has one formula for whole vectors of
numbers and another for those left over, and so has its Log. A short product adds one number after the
other, and zeros at the end change nothing (docs/decisions/0008-journal.md says what this is good for).
"""

import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

WIDTH = 384
"""Of a token's vector."""
UNCUT = 128
"""Numbers of a product that the runtime never cuts."""
LANES = 16
"""Copies of a number that fill whole vectors on any processor."""


def ordered_sums(model):
    """The model (opset 18 or later) with every Softmax over the last axis and every ReduceSum of an Exp or of a Mul with one taken
    apart, in place."""
    graph = model.graph
    made_by = {name: node for node in graph.node for name in node.output}
    cuts = {f"at_{at}": [at] for at in range(0, WIDTH + 1, UNCUT)}
    for name, value in {
        "last": [-1],
        "rows": [-2],
        "end": [2**31],
        "two": [2],
        "from": [0],
        "to": [1],
        "lanes": [LANES],
        **cuts,
    }.items():
        graph.initializer.append(numpy_helper.from_array(np.array(value, np.int64), f"sum_{name}"))
    softmax = {n.output[0] for n in graph.node if n.op_type == "Softmax"}
    for node in list(graph.node):
        if node.op_type in ("Softplus", "Log"):
            replace(graph, node, alone_nodes(node))
        elif node.op_type == "Softmax":
            replace(graph, node, softmax_nodes(node))
        elif node.op_type == "MatMul" and compares_tokens(node, made_by):
            replace(graph, node, product_nodes(node))
        elif node.op_type == "ReduceSum" and sums_weights(made_by.get(node.input[0]), made_by, softmax):
            keeps = all(a.i for a in node.attribute if a.name == "keepdims")
            replace(graph, node, sum_nodes(node.input[0], node.output[0], keeps))
    onnx.checker.check_model(model)
    return model


def compares_tokens(node, made_by):
    """Whether whole token vectors are compared: what is transposed comes from a comparison's projection, not from heads."""
    other = made_by.get(node.input[1])
    return (
        other is not None
        and other.op_type == "Transpose"
        and [list(a.ints) for a in other.attribute] == [[0, 2, 1]]
    )


def product_nodes(node):
    left, right, out = *node.input, node.output[0]
    nodes, parts = [], []
    for at in range(0, WIDTH, UNCUT):
        name, bounds = f"{out}_part_{at}", [f"sum_at_{at}", f"sum_at_{at + UNCUT}"]
        nodes.append(helper.make_node("Slice", [left, *bounds, "sum_last"], [name + "_left"]))
        nodes.append(helper.make_node("Slice", [right, *bounds, "sum_rows"], [name + "_right"]))
        nodes.append(helper.make_node("MatMul", [name + "_left", name + "_right"], [name]))
        parts.append(name)
    total = parts[0]
    for part in parts[1:]:
        next_total = out if part == parts[-1] else f"{part}_total"
        nodes.append(helper.make_node("Add", [total, part], [next_total]))
        total = next_total
    return nodes


def sums_weights(made, made_by, softmax):
    """Whether what is summed has a number for each token: exponentials, or a product with weights of a softmax."""
    if made is None:
        return False
    return made.op_type == "Exp" or (made.op_type == "Mul" and any(x in softmax for x in made.input))


def sum_nodes(values, out, keeps):
    name = f"{out}_ordered"
    shape = [
        helper.make_node("Shape", [values], [name + "_shape"]),
        helper.make_node("Slice", [name + "_shape", "sum_last", "sum_end"], [name + "_length"]),
        helper.make_node("Concat", [name + "_length", "sum_two"], [name + "_ones_shape"], axis=0),
    ]
    one = helper.make_tensor("one", onnx.TensorProto.FLOAT, [1], [1.0])
    # two columns of ones: with one, the runtime takes another kernel, which adds in another order
    product = [
        helper.make_node("ConstantOfShape", [name + "_ones_shape"], [name + "_ones"], value=one),
        helper.make_node("MatMul", [values, name + "_ones"], [name + "_sums"]),
    ]
    kept = out if keeps else name + "_kept"
    nodes = [
        *shape,
        *product,
        helper.make_node("Slice", [name + "_sums", "sum_from", "sum_to", "sum_last"], [kept]),
    ]
    return nodes if keeps else [*nodes, helper.make_node("Squeeze", [kept, "sum_last"], [out])]


def alone_nodes(node):
    """Its function of LANES copies of each number, so that none is left over from whole vectors; then the first copy."""
    values, out = node.input[0], node.output[0]
    return [
        helper.make_node("Unsqueeze", [values, "sum_last"], [out + "_one"]),
        helper.make_node("Expand", [out + "_one", "sum_lanes"], [out + "_copies"]),
        helper.make_node(node.op_type, [out + "_copies"], [out + "_of_copies"]),
        helper.make_node("Slice", [out + "_of_copies", "sum_from", "sum_to", "sum_last"], [out + "_first"]),
        helper.make_node("Squeeze", [out + "_first", "sum_last"], [out]),
    ]


def softmax_nodes(node):
    values, out = node.input[0], node.output[0]
    return [
        helper.make_node("ReduceMax", [values, "sum_last"], [out + "_max"], keepdims=1),
        helper.make_node("Sub", [values, out + "_max"], [out + "_below"]),
        helper.make_node("Exp", [out + "_below"], [out + "_exp"]),
        *sum_nodes(out + "_exp", out + "_sum", True),
        helper.make_node("Div", [out + "_exp", out + "_sum"], [out]),
    ]


def replace(graph, node, nodes):
    at = list(graph.node).index(node)
    graph.node.remove(node)
    for offset, new in enumerate(nodes):
        graph.node.insert(at + offset, new)


if __name__ == "__main__":
    onnx.save(ordered_sums(onnx.load(sys.argv[1])), sys.argv[2])
