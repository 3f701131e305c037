"""A backend of torch.compile for decoding single rows on a GPU: `generate(compile="gemv")`.

The products of a step of one row are those of a matrix and a vector (GEMV), which take as long as reading the matrix.
cuBLAS multiplies matrices there, far below the rate of the memory. The compiler has reductions of its own for them, and
joins them with the activations and norms around them, as gpt-fast does (PyTorch 2023, "Accelerating Generative AI with
PyTorch II"). It takes them for products without a bias, if it may tune each kernel, which takes a minute or more for a
large model. Several rows, and a CPU, are compiled as usual.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor

if TYPE_CHECKING:
    from torch import fx  # at run time it comes with the graph: the torch of a browser tab has none

NAME = "gemv"


def split_biases(graph: fx.GraphModule) -> None:
    """Replaces each linear layer with a bias in the graph by a product and a sum."""
    for node in graph.graph.find_nodes(op="call_function", target=F.linear):
        given = dict(zip(("input", "weight", "bias"), node.args, strict=False)) | node.kwargs
        if given.get("bias") is None:
            continue
        with graph.graph.inserting_before(node):
            product = graph.graph.call_function(F.linear, (given["input"], given["weight"]))
            total = graph.graph.call_function(torch.add, (product, given["bias"]))
        node.replace_all_uses_with(total)
        graph.graph.erase_node(node)
    graph.recompile()


def is_on_gpu(inputs: list[Any]) -> bool:
    """Whether a graph with these inputs runs on a GPU of Nvidia or AMD."""
    return any(isinstance(x, Tensor) and x.is_cuda for x in inputs)


def compile_with_gemv(graph: fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
    """The backend: inductor, which may replace products of one row on a GPU by its own reductions."""
    from torch._inductor.compile_fx import compile_fx

    if not is_on_gpu(inputs):
        return compile_fx(graph, inputs)  # type: ignore[return-value]
    split_biases(graph)
    return compile_fx(graph, inputs, config_patches={"coordinate_descent_tuning": True})  # type: ignore[return-value]
