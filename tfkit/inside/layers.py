"""The blocks of a model that carry its residual stream, in the order in which they run."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

IN_STACK = re.compile(r"(?:.*\.)?(?P<stack>layers|encoder|decoder)(?:\.\d+)+")


@dataclass(frozen=True)
class BlockOutput:
    """The output of one call of a block. path: the block's name; call: its number, from 0 (ALBERT runs one block many
    times); before [B,L,E]: the block's input; states [B,L,E]: its output."""

    path: str
    call: int
    before: torch.Tensor
    states: torch.Tensor


def block_paths(model: nn.Module) -> list[str]:
    """The paths of the blocks that compute the states behind the predictions, in the model's order: in an
    encoder-decoder those of the decoder. Raises ValueError for a model without a stack of blocks."""
    found = [path for path, _ in model.named_modules() if IN_STACK.fullmatch(path)]
    found = [path for path in found if not any(other.startswith(f"{path}.") for other in found)]
    after_encoder = [path for path in found if not re.search(r"encoder\.", path)]
    if not found:
        raise ValueError(f"{type(model).__name__} has no stack of blocks, and so no residual stream")
    return after_encoder or found


def block_outputs(model: nn.Module, **inputs: Any) -> tuple[list[BlockOutput], Any]:
    """Run the model and keep the output of every block -> (in the order of the calls, the model's own output)

    Raises ValueError for a model whose blocks return anything but one tensor [B,L,E]. Of XLNet's two streams, the
    content stream is used.
    """
    found: list[BlockOutput] = []

    def keep(path: str) -> Any:
        def hook(_module: nn.Module, args: Any, output: Any) -> None:
            calls = sum(one.path == path for one in found)
            found.append(BlockOutput(path, calls, states_of(args[0], path), states_of(output, path)))

        return hook

    with ExitStack() as hooks:
        for path in block_paths(model):
            hooks.callback(model.get_submodule(path).register_forward_hook(keep(path)).remove)
        out = model(**inputs)
    if not found:
        raise ValueError(f"{type(model).__name__} ran none of its blocks for these inputs")
    return found, out


def states_of(output: Any, path: str) -> torch.Tensor:
    """The states [B,L,E] in the input or output of a block: the tensor itself, or the first of several."""
    first = output[0] if isinstance(output, list | tuple) and output else output
    if not isinstance(first, torch.Tensor):
        raise ValueError(f"{path} returns a {type(output).__name__} without hidden states [B,L,E]")
    return first


def with_states(output: Any, states: torch.Tensor) -> Any:
    """The output of a block with other states in it."""
    return states if isinstance(output, torch.Tensor) else type(output)([states, *output[1:]])


def in_last_block(last: BlockOutput, states: torch.Tensor) -> list[Any]:
    """An edit for `last.path` that replaces the states [B,L,E] in its last call, and in no earlier call."""
    return [None] * last.call + [lambda output: with_states(output, states)]
