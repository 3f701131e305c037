"""Puts the kernels of `nn.triton_single_row` into the graph of a decoding step.

A product takes over what follows it and nothing else reads: dropout that does nothing outside training, one activation,
and the sum with the residual. Of grouped heads the attention takes the keys before they are repeated. Where
a card has too little shared memory for the attention, it is left to the compiler.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, fx

from tfkit.decode.single_row import FLOATS, is_row_major, is_single_row, linear_arguments, replace_node, value_of
from tfkit.nn.triton_single_row import WIDTHS, has_shared_memory_for  # its import defines `torch.ops.tfkit.*`

# Functions that write to none of their arguments, besides activations and dropout.
PURE = {
    F.linear, torch.ops.tfkit.row_times_matrix.default, torch.ops.tfkit.decode_attention.default, operator.add,
    torch.add, operator.mul,
}  # fmt: skip


def use_kernels(graph: fx.GraphModule) -> tuple[int, int]:
    """Replaces the products of a single row, with what follows them, and the attention of single queries in a graph ->
    how many of each"""
    products = sum(_replace_product(graph, node) for node in _calls(graph, F.linear))
    attentions = sum(_replace_attention(graph, node) for node in _calls(graph, F.scaled_dot_product_attention))
    graph.recompile()
    return products, attentions


def _calls(graph: fx.GraphModule, function: Any) -> list[fx.Node]:
    return list(graph.graph.find_nodes(op="call_function", target=function))


def _replace_product(graph: fx.GraphModule, node: fx.Node) -> bool:
    given = linear_arguments(node)
    x, weight = value_of(given["input"]), value_of(given["weight"])
    if "out" in given or not (is_single_row(x) and is_row_major(weight) and x.dtype in FLOATS):
        return False
    chain, activation, residual = epilogue(node)
    if chain:
        chain[-1].meta.setdefault("example_value", value_of(node))
    args = given["input"], given["weight"], given["bias"], residual, activation
    replace_node(graph, chain[-1] if chain else node, torch.ops.tfkit.row_times_matrix.default, *args)
    for done in [*chain[-2::-1], *([node] if chain else [])]:
        graph.graph.erase_node(done)
    return True


def epilogue(node: fx.Node) -> tuple[list[fx.Node], str, fx.Node | None]:
    """What follows a product and nothing else reads -> the nodes that the kernel takes over, its activation, and the
    residual. The kernel reads the product's input where the last of them stood, so nothing may be written before it."""
    chain: list[fx.Node] = []
    activation, last, pure = "none", node, _pure_nodes_after(node)
    while (user := _only_user(last)) is not None and user in pure:
        named = _activation_of(user)
        if named is not None and activation == "none":
            activation = named
        elif not _is_idle_dropout(user):
            break
        chain, last = [*chain, user], user
    residual = None if user is None or user not in pure else _other_summand(user, last)
    return (chain, activation, None) if user is None or residual is None else ([*chain, user], activation, residual)


def _pure_nodes_after(node: fx.Node) -> set[fx.Node]:
    """The nodes up to the first that may write in place, to whatever: views need no common user."""
    found: set[fx.Node] = set()
    after = node.next
    while _is_pure(after):
        found.add(after)
        after = after.next
    return found


def _is_pure(node: fx.Node) -> bool:
    """Whether a node is known to write to nothing: few functions are, since any other may write to its arguments."""
    if node.op != "call_function":
        return node.op in ("placeholder", "get_attr")
    known = node.target in PURE or _activation_of(node) is not None or _is_idle_dropout(node)
    return known and "out" not in node.kwargs


def _only_user(node: fx.Node) -> fx.Node | None:
    return next(iter(node.users)) if len(node.users) == 1 else None


def _activation_of(node: fx.Node) -> str | None:
    """The name of an activation function in a graph."""
    if node.target is F.gelu:
        return {"none": "gelu", "tanh": "gelu_tanh"}[node.kwargs.get("approximate", "none")]  # type: ignore[index]
    in_place = node.kwargs.get("inplace") or len(node.args) > 1
    named: dict[Any, str] = {F.silu: "silu", F.relu: "relu", torch.relu: "relu"}
    return None if in_place else named.get(node.target)


def _is_idle_dropout(node: fx.Node) -> bool:
    """Whether this is a dropout outside training."""
    training = node.kwargs.get("training", node.args[2] if len(node.args) > 2 else True)
    return node.target is F.dropout and training is False


def _other_summand(node: fx.Node, one: fx.Node) -> fx.Node | None:
    """The other operand of a sum of two tensors of equal shape and dtype, or None."""
    if node.target not in (operator.add, torch.add) or node.kwargs or len(node.args) != 2:
        return None
    other = node.args[1] if node.args[0] is one else node.args[0]
    found, wanted = value_of(other), value_of(one)
    same = isinstance(found, Tensor) and found.shape == wanted.shape and found.dtype == wanted.dtype
    return other if isinstance(other, fx.Node) and other is not one and same else None


def _replace_attention(graph: fx.GraphModule, node: fx.Node) -> bool:
    names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
    given = {"attn_mask": None, **dict(zip(names, node.args, strict=False)), **node.kwargs}
    q, k, v = (value_of(given[name]) for name in names[:3])
    if any(not isinstance(x, Tensor) or x.dim() != 4 or x.dtype not in FLOATS for x in (q, k, v)):
        return False
    if type(q.size(2)) is not int or q.size(2) != 1 or given.get("dropout_p") or given.get("is_causal"):
        return False
    if q.size(3) not in WIDTHS or v.size(3) != q.size(3):
        return False
    key, value = _before_repetition(given["key"]), _before_repetition(given["value"])
    if None in (key, value):
        key, value = given["key"], given["value"]
    if not has_shared_memory_for(q, value_of(key)):
        return False
    scale = given.get("scale")
    replace_node(
        graph, node, torch.ops.tfkit.decode_attention.default, given["query"], key, value, given["attn_mask"],
        q.size(3) ** -0.5 if scale is None else scale,
    )  # fmt: skip
    return True


def _before_repetition(node: Any) -> Any:
    """The keys or values whose heads a node repeats for their group, or None if it does something else."""
    repeats = node.target in ("repeat_interleave", torch.repeat_interleave) and node.kwargs.get("dim") == 1
    return node.args[0] if repeats else None
