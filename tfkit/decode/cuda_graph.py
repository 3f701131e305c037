"""A compiled decoding step as a CUDA graph: its kernels are launched together instead of one by one.

A step of a large model is hundreds of kernels of a few microseconds each, which a CPU cannot launch as fast as a GPU
runs them. A graph belongs to one generation, because it reads and writes the addresses of that generation's cache: the
first step runs as it is, the second runs on inputs at fixed addresses, the third is captured, and all later ones are
replayed. Where an address or a shape changes, as when a beam search moves its cache, this begins again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tfkit.nn import StaticCache

StepOutput = tuple[Tensor, Tensor | None]
Step = Callable[[dict[str, Any]], StepOutput]  # the model's inputs -> logits, hidden states


def supports_cuda_graph(cache: Any) -> bool:
    """Whether steps on this cache can be a CUDA graph: on a GPU, on a cache whose position is a tensor."""
    return isinstance(cache, StaticCache) and isinstance(cache.end, Tensor) and cache.end.device.type == "cuda"


def capture_graph(run: Callable[[], StepOutput]) -> Callable[[], StepOutput]:
    """Captures the kernels of `run`, without running them -> a function that runs them."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outputs = run()

    def replay() -> StepOutput:
        graph.replay()
        return outputs

    return replay


class CUDAGraphStep:
    """Steps of one generation with equal shapes, replayed from the third on."""

    def __init__(self) -> None:
        self.inputs: dict[str, Any] = {}  # at fixed addresses
        self.end: Any = None  # the cache's position, at a fixed address
        self.signature: list[Any] | None = None
        self.replay: Callable[[], StepOutput] | None = None

    def __call__(self, step: Step, given: dict[str, Any], cache: StaticCache) -> StepOutput:
        """As `step(given)`, which writes to the cache and moves its position."""
        signature = input_signature(given, cache)
        if signature != self.signature:
            self.signature, self.inputs, self.replay = signature, {}, None
            return step(given)
        if not self.inputs:
            self.inputs = {name: x.clone() if is_step_input(name) else x for name, x in given.items()}
            self.end = cache.end.clone()
            cache.end = self.end
            return self.run_on_static_inputs(step, cache)
        for name, x in given.items():
            if is_step_input(name):
                self.inputs[name].copy_(x)
        if cache.end is not self.end:  # the cache was cropped
            self.end.copy_(cache.end)
            cache.end = self.end
        if self.replay is None:
            self.replay = capture_graph(lambda: self.run_on_static_inputs(step, cache))
        logits, hidden = self.replay()
        return logits.clone(), None if hidden is None else hidden.clone()  # the next replay overwrites them

    def run_on_static_inputs(self, step: Step, cache: StaticCache) -> StepOutput:
        """One step on the inputs at fixed addresses; it moves the position in place."""
        outputs = step(self.inputs)
        self.end.copy_(cache.end)
        cache.end = self.end
        return outputs


def is_step_input(name: str) -> bool:
    """Whether an input is another tensor in every step; the others belong to the source and stay."""
    return name in ("input_ids", "decoder_input_ids", "position_ids")


def input_signature(given: dict[str, Any], cache: StaticCache) -> list[Any]:
    """The shapes of the inputs that are new in each step, and the addresses of all other tensors."""
    found: list[Any] = []
    for name, x in given.items():
        if is_step_input(name):
            found.append((x.shape, x.dtype))
        else:
            found += [tensor.data_ptr() for tensor in tensors_in(x)]
    return found + [tensor.data_ptr() for tensor in (*cache.tensors(), *cache.row_tensors())]


def tensors_in(what: Any) -> list[Tensor]:
    """The tensors in a tensor, a list, a tuple, a dict or an `Output`."""
    if isinstance(what, Tensor):
        return [what]
    parts = what.values() if isinstance(what, dict) else what if isinstance(what, list | tuple) else ()
    return [tensor for part in parts for tensor in tensors_in(part)]
