"""Gradient checkpointing (Chen et al. 2016, arXiv:1604.06174): keep each layer's input only, compute the rest again."""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import nn
from torch.utils.checkpoint import checkpoint

from tfkit.train.process_group import layers


def checkpoint_activations(model: nn.Module) -> nn.Module:
    """From now on, training holds the activations of one layer at a time, for about a third more time a step.

    Gradients stay the same, dropout included. Raises ValueError for a model without repeated layers.
    """
    blocks = layers(model)
    if not blocks:
        raise ValueError(f"{type(model).__name__} has no nn.ModuleList of layers to recompute")
    for block in blocks:
        block.forward = partial(_checkpointed, block.forward, block)  # type: ignore[method-assign]
    return model


def _checkpointed(forward: Any, block: nn.Module, *args: Any, **kwargs: Any) -> Any:
    if not block.training:
        return forward(*args, **kwargs)
    return checkpoint(forward, *args, use_reentrant=False, **kwargs)
