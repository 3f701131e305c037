"""One decoding step as a compiled graph: compiled for the first new token, reused for all later ones.

This takes a cache of fixed size (`tfkit.nn.StaticCache`), whose write position is a tensor, or the states of a state
space model, which a graph writes in place. The capacity of a static cache is rounded up to a power of two, and the
graph is dynamic in the number of rows and in the length of their sources, so that batches and prompts of different
sizes share one graph. A batch of one row has a graph of its own, because compilers specialise on a size of one.
On a GPU its kernels are launched together, by `cuda_graph`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from tfkit.decode.cuda_graph import CUDAGraphStep, StepOutput, supports_cuda_graph, tensors_in
from tfkit.decode.single_row import single_row_backend
from tfkit.nn.state_space import StateCache

Backend = str | Callable[..., Any]
MIN_CAPACITY = 16

compiled_steps: WeakKeyDictionary[nn.Module, dict[Any, Callable[..., Any]]] = WeakKeyDictionary()


def backend_of(compile: bool | Backend) -> Backend | None:
    """The backend that `generate(compile=…)` asks for: None, for True torch's own compiler as `single_row` uses it, or
    a backend of torch.compile, by name or as a function. Raises ValueError for a name that torch does not know."""
    if isinstance(compile, bool):
        return single_row_backend if compile else None
    known = torch.compiler.list_backends(exclude_tags=())
    if isinstance(compile, str) and compile not in known:
        raise ValueError(f"compile={compile!r} is not a torch.compile backend: pass True or one of {', '.join(known)}")
    return compile


def round_up_capacity(capacity: int) -> int:
    """The next power of two: runs of similar length share their graphs."""
    return max(MIN_CAPACITY, 1 << (capacity - 1).bit_length())


def step(model: Any, given: dict[str, Any], cache: Any) -> StepOutput:
    """-> logits [N,t,V], and the hidden states behind them, if the model returns them"""
    out = model(**given, cache=cache, use_cache=True)
    return out.logits, out.last_hidden_state


def compiled_step(model: Any, backend: Backend, capacity: int, new: int) -> Callable[..., Any]:
    """`step`, compiled for this model, this capacity and `new` tokens at a time; repeated calls return the same
    function.

    torch keeps graphs per code object and gives up after eight of them, so each gets its own copy of `step`'s code."""
    steps = compiled_steps.setdefault(model, {})
    key = (backend, capacity, new)
    if key not in steps:
        own = FunctionType(step.__code__.replace(), step.__globals__, step.__name__)
        steps[key] = torch.compile(own, backend=backend, fullgraph=True)
        if any(isinstance(module, nn.RNNBase) for module in model.modules()):  # else even their weights are refused
            steps[key] = torch._dynamo.config.patch(allow_rnn=True)(steps[key])
    return steps[key]


def run_step(
    model: Any,
    backend: Backend,
    given: dict[str, Any],
    cache: Any,
    new: int,
    captured: dict[int, CUDAGraphStep] | None,
) -> StepOutput:
    """One step of `new` tokens on a cache of fixed size that already holds a prompt -> as `step`

    captured: the CUDA graphs of this generation by their number of tokens, to which this adds; None: no step can be
    one, because the model waits for the device to learn a shape"""
    inner = getattr(cache, "rows", cache)  # RAG's cache counts passages: each is a row of the cache that it wraps

    def run(given: dict[str, Any]) -> StepOutput:
        mark_dynamic_sizes(given, inner)
        found: StepOutput = compiled_step(model, backend, inner.max_length, new)(model, given, cache)
        return found

    if captured is not None and supports_cuda_graph(cache):
        out = captured.setdefault(new, CUDAGraphStep())(run, given, cache)
    else:
        out = run(given)
    inner.advance_length(new)
    return out


def mark_dynamic_sizes(given: dict[str, Any], cache: Any) -> None:
    """Marks the sizes in which a graph must be dynamic: the number of rows, and the length of the source."""
    for tensor in tensors_in(given):
        mark_dynamic(tensor, 0)
    sources = ("attention_mask", "encoder_outputs", "encoder_hidden_states", "encoder_attention_mask")
    for tensor in tensors_in({name: given.get(name) for name in sources}):
        for dim in range(1, tensor.dim()):  # also feature widths: the weights fix these anyway
            mark_dynamic(tensor, dim)
    if isinstance(cache, StateCache):
        for state in cache.tensors():
            mark_dynamic(state, 0)
        return
    for buffer in cache.self_attention.values():
        mark_dynamic(buffer.k, 0)
        mark_dynamic(buffer.v, 0)
    for tensor in cache.row_tensors():
        mark_dynamic(tensor, 0)
    for pair in cache.cross_attention.values():
        for tensor in pair:
            mark_dynamic(tensor, 0)
            mark_dynamic(tensor, 2)


def mark_dynamic(tensor: Tensor, dim: int) -> None:
    """Marks a size as dynamic unless it is one, on which compilers specialise."""
    if tensor.dim() > dim and tensor.size(dim) > 1:
        torch._dynamo.maybe_mark_dynamic(tensor, dim)
