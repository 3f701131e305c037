"""The backend of `generate(compile=True)`: torch's own compiler, with other products and attention for single rows.

The products of a step of one row are those of a matrix and a vector, which take at least as long as reading the
matrix. On a CPU such a product becomes a sum over columns, for which the compiler writes a loop that reads each number
once, together with the norms and activations around it. On the one CPU where it was measured, an AMD EPYC (Zen 4) with
one thread, PyTorch's own products of a token of SmolLM2 took 2.1 to 2.5 times as long as reading in float32 and 3.5
times in bfloat16 (docs/decisions/decoding.md); elsewhere it may differ. On a GPU it becomes one Triton kernel with the
bias, the activation and the residual in it (`nn.triton_single_row`), and so does the attention of a single query over
its cache; what that saves has not been measured. Graphs of several rows are compiled as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor

if TYPE_CHECKING:
    from torch import fx  # at run time it comes with the graph: the torch of a browser tab has none

FLOATS = (torch.float32, torch.bfloat16, torch.float16)


def product_as_sum(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x [...,I], a single row; weight [O,I]; bias [O] or None -> [...,O] in x's dtype, added up in float32"""
    out = (weight.float() * x.reshape(-1).float()).sum(-1)
    out = out if bias is None else out + bias.float()
    return out.to(x.dtype).view(*x.shape[:-1], -1)


def int8_product_as_sum(x: Tensor, q: Tensor, scale: Tensor) -> Tensor:
    """x [1,I], q int8 [O,I], scale [O] -> [1,O] in x's dtype: `torch._weight_int8pack_mm` as a sum over columns"""
    return ((q.float() * x.reshape(-1).float()).sum(-1) * scale.float()).to(x.dtype).view(1, -1)


def value_of(node: Any) -> Any:
    """The tensor without data that stands for a node's result, or None."""
    return getattr(node, "meta", {}).get("example_value")


def is_single_row(x: Any) -> bool:
    """Whether this is a tensor [...,I] of one row, at every call of the graph."""
    return isinstance(x, Tensor) and x.dim() > 0 and all(type(n) is int and n == 1 for n in x.shape[:-1])


def is_row_major(weight: Any) -> bool:
    """Whether this is a matrix [O,I] of floats whose rows are contiguous."""
    return isinstance(weight, Tensor) and weight.dim() == 2 and weight.dtype in FLOATS and weight.stride(1) == 1


def linear_arguments(node: fx.Node) -> dict[str, Any]:
    """input, weight and bias of a linear layer in a graph, and the tensor `out` if it writes its result into one."""
    return {"bias": None, **dict(zip(("input", "weight", "bias"), node.args, strict=False)), **node.kwargs}


def replace_node(graph: fx.GraphModule, node: fx.Node, function: Callable[..., Any], *args: Any) -> None:
    """Puts another function's result in the place of a node's."""
    with graph.graph.inserting_before(node):
        found = graph.graph.call_function(function, args)
    found.meta.update(node.meta)
    node.replace_all_uses_with(found)
    graph.graph.erase_node(node)


def write_products_as_sums(graph: fx.GraphModule) -> None:
    """Replaces the products of a single row in a graph for a CPU."""
    for node in graph.graph.find_nodes(op="call_function", target=F.linear):
        given = linear_arguments(node)
        if "out" not in given and is_single_row(value_of(given["input"])) and is_row_major(value_of(given["weight"])):
            replace_node(graph, node, product_as_sum, given["input"], given["weight"], given["bias"])
    for node in graph.graph.find_nodes(op="call_function", target=torch._weight_int8pack_mm):
        if is_single_row(value_of(node.args[0])):
            replace_node(graph, node, int8_product_as_sum, *node.args)
    graph.recompile()


def is_on_gpu(inputs: list[Any]) -> bool:
    """Whether a graph with these inputs runs on a GPU of Nvidia or AMD."""
    return any(isinstance(x, Tensor) and x.is_cuda for x in inputs)


def single_row_backend(graph: fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
    """The backend: inductor, after the products of single rows are replaced."""
    from torch._inductor.compile_fx import compile_fx

    if not is_on_gpu(inputs):
        write_products_as_sums(graph)
    elif find_spec("triton") is not None:
        from tfkit.decode import single_row_kernels

        single_row_kernels.use_kernels(graph)
    return compile_fx(graph, inputs)  # type: ignore[return-value]
