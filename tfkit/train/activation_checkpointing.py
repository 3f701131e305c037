"""Gradient checkpointing (Chen et al. 2016, arXiv:1604.06174): keep only each layer's input and recompute the rest; or
also keep what is expensive to compute (selective recomputation, Korthikanti et al. 2022, arXiv:2205.05198)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

from tfkit.nn import attention_kernel, flex
from tfkit.train.process_group import layers

KINDS = ("layers", "selective")


def checkpoint_activations(model: nn.Module, kind: str = "layers") -> nn.Module:
    """From now on, training keeps fewer activations and recomputes the others. kind: "layers" keeps the activations of
    one layer at a time, for about a third more time per step; "selective" keeps the results of matrix products and of
    attention in all layers, and recomputes norms, activation functions and dropout, which takes little time.

    Gradients stay the same, also with dropout. Raises ValueError for a model without repeated layers, or an unknown
    kind.
    """
    if kind not in KINDS:
        raise ValueError(f"recomputation of kind {kind!r}; available: {', '.join(KINDS)}")
    blocks = layers(model)
    if not blocks:
        raise ValueError(f"{type(model).__name__} has no nn.ModuleList of layers to recompute")
    for block in blocks:
        block.forward = partial(_run_checkpointed, block.forward, block, kind)
    return model


def _contexts(kind: str) -> tuple[Any, Any]:
    """The contexts for the first computation of a block and for its recomputation, which must separate the same
    texts."""
    selective = create_selective_checkpoint_contexts(_policy)
    first, again = selective if kind == "selective" else (nullcontext(), nullcontext())
    return first, _both(again, flex.use_rule(attention_kernel.texts_rule))


@contextmanager
def _both(one: Any, other: Any) -> Iterator[None]:
    with one, other:
        yield


@cache
def kept_operations() -> frozenset[Any]:
    """Products of states with weights, and the output of fused attention; scores [B,H,L,L] are not kept."""
    aten = torch.ops.aten
    return frozenset((
        aten.mm.default, aten.addmm.default, aten._scaled_dot_product_flash_attention_for_cpu.default,
        aten._scaled_dot_product_flash_attention.default, aten._scaled_dot_product_efficient_attention.default,
        aten._scaled_dot_product_cudnn_attention.default,
    ))  # fmt: skip


def _policy(context: Any, operation: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
    return CheckpointPolicy.MUST_SAVE if operation in kept_operations() else CheckpointPolicy.PREFER_RECOMPUTE


def _run_checkpointed(forward: Any, block: nn.Module, kind: str, *args: Any, **kwargs: Any) -> Any:
    if not block.training:
        return forward(*args, **kwargs)
    return checkpoint(forward, *args, use_reentrant=False, context_fn=partial(_contexts, kind), **kwargs)
