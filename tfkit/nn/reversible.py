"""Layers that need not store their inputs, which can be recomputed from their outputs (Gomez et al. 2017)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn


class ReversibleBlock(nn.Module):
    """Two halves of the state, each changed by a function of the other (Kitaev et al. 2020, section 3).

    Submodules f and g, whose output has the shape of their input.
    """

    def __init__(self, f: nn.Module, g: nn.Module) -> None:
        super().__init__()
        self.f, self.g = f, g

    def forward(self, x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
        """x1, x2 of one shape -> y1 = x1 + f(x2), y2 = x2 + g(y1)"""
        y1 = x1 + self.f(x2)
        return y1, x2 + self.g(y1)

    def inverse(self, y1: Tensor, y2: Tensor) -> tuple[Tensor, Tensor]:
        """-> the x1, x2 that gave y1, y2"""
        x2 = y2 - self.g(y1)
        return y1 - self.f(x2), x2


def reversible(blocks: Any, x1: Tensor, x2: Tensor, context: tuple[Any, ...] = ()) -> tuple[Tensor, Tensor]:
    """Runs a ModuleList of `ReversibleBlock`s in memory that does not grow with their number, even in training.

    x1, x2 of one shape; context: further arguments of each f -> y1, y2. The backward pass recomputes the inputs of each
    block from its outputs, with the same dropout.
    """
    if not torch.is_grad_enabled():
        for block in blocks:
            x1 = x1 + block.f(x2, *context)
            x2 = x2 + block.g(x1)
        return x1, x2
    return _Reversible.apply(blocks, context, x1, x2, *(w for w in blocks.parameters() if w.requires_grad))


class _Reversible(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, blocks: Any, context: tuple[Any, ...], x1: Tensor, x2: Tensor, *weights: Any
    ) -> tuple[Tensor, Tensor]:
        """Stores the last x1, x2 and the random state before each half, but no activations of the blocks."""
        ctx.blocks, ctx.context, ctx.weights, ctx.draws = blocks, context, weights, []
        kind = x1.device.type
        ctx.cast = {"device_type": kind, "enabled": torch.is_autocast_enabled(kind)}
        ctx.cast["dtype"] = torch.get_autocast_dtype(kind)
        for block in blocks:
            ctx.draws.append(_rng_state(block, x1.device))
            x1 = x1 + block.f(x2, *context)
            ctx.draws.append(_rng_state(block, x1.device))
            x2 = x2 + block.g(x1)
        ctx.save_for_backward(x1, x2)
        return x1, x2

    @staticmethod
    def backward(ctx: Any, d1: Tensor, d2: Tensor) -> tuple[Tensor | None, ...]:
        """From the last block to the first: recompute a block's inputs, take its gradients, drop the inputs."""
        y1, y2 = ctx.saved_tensors
        grads: dict[Tensor, Tensor] = {}
        for block in reversed(ctx.blocks):
            out, grad = _recompute_half(ctx, block.g, y1, d2, (), grads)
            x2, d1 = y2 - out, d1 + grad
            out, grad = _recompute_half(ctx, block.f, x2, d1, ctx.context, grads)
            y1, y2, d2 = y1 - out, x2, d2 + grad
        return None, None, d1, d2, *(grads.get(weight) for weight in ctx.weights)


def _recompute_half(
    ctx: Any, half: nn.Module, x: Tensor, grad: Tensor, context: tuple[Any, ...], grads: dict[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """half(x), and the gradient at x; those of its weights are added to `grads`."""
    x = x.detach().requires_grad_()
    with _restore_rng(ctx.draws.pop(), x.device), torch.enable_grad(), torch.autocast(**ctx.cast):
        out = half(x, *context)
    weights = [w for w in half.parameters() if w.requires_grad]
    at_x, *found = torch.autograd.grad(out, (x, *weights), grad, allow_unused=True)
    for weight, more in zip(weights, found, strict=True):
        if more is not None:
            grads[weight] = grads[weight] + more if weight in grads else more
    return out.detach(), at_x


def _rng_state(block: nn.Module, device: torch.device) -> tuple[Tensor, Tensor | None] | None:
    """The state of the random generators, if dropout may draw from them."""
    if not block.training:
        return None
    return torch.get_rng_state(), torch.cuda.get_rng_state(device) if device.type == "cuda" else None


@contextmanager
def _restore_rng(state: tuple[Tensor, Tensor | None] | None, device: torch.device) -> Iterator[None]:
    if state is None:
        yield
        return
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.set_rng_state(state[0])
        if state[1] is not None:
            torch.cuda.set_rng_state(state[1], device)
        yield
