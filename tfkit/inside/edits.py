"""Change what a model computes while it runs: patch, ablate, steer, cut attention. All edits end with the block.

    with tfkit.edit(model) as e:
        e["layers.3.attn"] = clean["layers.3.attn.out"]     # activation patching: another run's output in its place
        e["layers.5"] = lambda x: x + 4 * direction         # any function of the value, which returns one like it
        e.ablate("layers.1.attn", heads=[2])                # these heads add nothing
        e.block("layers.*.attn", queries=[-1], keys=[0])    # the last token may not attend to the first
        logits = model(input_ids).logits

A name is a module's path, which stands for its output, or an inner value of an attention: `<path>.scores` (before mask
and softmax) and `<path>.weights`, both [B,H,Q,K], and `<path>.per_head` [B,H,Q,D], the output of each head before the
output projection. The names are those of `tfkit.trace`, and recorded values can be assigned as they are; a name may
contain wildcards. Writing back an unchanged value changes no bit of the result, for any architecture.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn

from .. import tracing

INNER = ("out", "scores", "weights", "per_head")

Change = Callable[[Any], Any]


class Edits:
    """The edits of one block: name -> a tensor, a number, a function of the value, or a list of these, one for each
    call of the module (None leaves a call as it is)."""

    def __init__(self, model: nn.Module) -> None:
        tracing.require_model(model)
        self._paths = [path for path, _ in model.named_modules()]
        self._kind = type(model).__name__
        self._running: list[str] = []
        self._changes: dict[str, Any] = {}
        self._calls: dict[tuple[str, str], int] = {}

    def __setitem__(self, name: str, change: Any) -> None:
        full = self._full_name(name)
        self._changes[full] = change
        self._calls = {key: calls for key, calls in self._calls.items() if key[0] != full}

    def __delitem__(self, name: str) -> None:
        del self._changes[self._full_name(name)]

    def _full_name(self, name: str) -> str:
        path, _, inner = name.rpartition(".")
        if name not in self._paths and inner in INNER and fnmatch.filter(self._paths, path):
            return name
        if fnmatch.filter(self._paths, name):
            return f"{name}.out" if name else "out"
        near = difflib.get_close_matches(name, self._paths, 4, 0.3) or self._paths[1:5]
        raise KeyError(f"{self._kind} has no module {name!r}; available: {', '.join(near)}")

    def patch(self, name: str, value: torch.Tensor, positions: Sequence[int] | slice) -> None:
        """Replace the module's output [B,L,E] by `value` [B,L,E] at some positions."""

        def change(old: torch.Tensor) -> torch.Tensor:
            new = old.clone()
            new[:, positions] = value.to(old)[:, positions]
            return new

        self[name] = change

    def steer(self, name: str, direction: torch.Tensor, strength: float = 1.0) -> None:
        """Add `strength` times a direction [E] (or anything that broadcasts) to the module's output [B,L,E]."""
        self[name] = lambda old: old + strength * direction.to(old)

    def ablate(self, name: str, heads: Sequence[int] | None = None, replacement: float | torch.Tensor = 0.0) -> None:
        """Replace the module's output, or the output of some heads of an attention, by zeros or by `replacement`, such
        as the mean over other texts ([E], or [D] for heads)."""
        if heads is None:
            self[name] = lambda old: torch.zeros_like(old) + replacement
            return

        def change(old: torch.Tensor) -> torch.Tensor:
            _check_indices("head", heads, old.size(1), name)
            new = old.clone()
            new[:, list(heads)] = torch.as_tensor(replacement).to(old)
            return new

        self[f"{name}.per_head"] = change

    def block(self, name: str, queries: Sequence[int], keys: Sequence[int], heads: Sequence[int] | None = None) -> None:
        """Attention knock-out (Geva et al. 2023): no query in `queries` may attend to a key in `keys`; the weight goes
        to the other keys. A query without any key left gives zeros. Negative positions count from the end."""

        def change(scores: torch.Tensor) -> torch.Tensor:
            _check_indices("query", queries, scores.size(-2), name)
            _check_indices("key", keys, scores.size(-1), name)
            hidden = torch.zeros(scores.shape[-2:], dtype=torch.bool, device=scores.device)
            hidden[torch.tensor(list(queries))[:, None], torch.tensor(list(keys))] = True
            chosen = torch.zeros(scores.size(1), dtype=torch.bool, device=scores.device)
            chosen[slice(None) if heads is None else list(heads)] = True
            return scores.masked_fill(hidden & chosen[:, None, None], float("-inf"))

        self[f"{name}.scores"] = change

    def change(self, what: str, value: Any) -> Any:
        """Called by `tracing` for each inner value -> the value to use in its place, or the value itself."""
        if not self._running:  # another model, called inside the block
            return value
        path = self._running[-1]
        name = f"{path}.{what}" if path else what
        for pattern, change in self._changes.items():
            if fnmatch.fnmatchcase(name, pattern):
                value = self._apply_edit(pattern, name, change, value)
        return value

    def _apply_edit(self, pattern: str, name: str, change: Any, old: Any) -> Any:
        call = self._calls.get((pattern, name), 0)
        self._calls[pattern, name] = call + 1
        if isinstance(change, list | tuple):
            if call >= len(change):
                raise ValueError(f"{name}: {len(change)} values were given, and this is call {call + 1}")
            change = change[call]
        return old if change is None else _like(name, change, old)

    def unused_names(self) -> list[str]:
        """The names that have not matched any value so far."""
        return [pattern for pattern in self._changes if not any(used == pattern for used, _ in self._calls)]

    def enter(self, path: str) -> Callable[..., None]:
        """A hook to register before the module at `path`."""

        def hook(_module: nn.Module, _args: Any) -> None:
            self._running.append(path)

        return hook

    def leave(self, _module: nn.Module, _args: Any, output: Any) -> Any:
        """A hook to register after each module; it also runs after one that raised, whose output is None."""
        try:
            return None if output is None else self.change("out", output)
        finally:
            self._running.pop()


def _check_indices(what: str, found: Sequence[int], size: int, name: str) -> None:
    if wrong := [i for i in found if not -size <= i < size]:
        raise ValueError(f"{name} has no {what} {wrong[0]}: indices go from 0 to {size - 1}")


def _like(name: str, change: Any, old: Any) -> Any:
    """The result of applying a change to `old`: of the same shape, dtype and device. Raises ValueError if it does not
    fit."""
    if callable(change) and not isinstance(change, torch.Tensor):
        new = change(old)
        if not isinstance(old, torch.Tensor):
            return new
    elif not isinstance(old, torch.Tensor):
        raise ValueError(f"{name} is a {type(old).__name__}, not a tensor: assign a function that returns one like it")
    else:
        new = torch.as_tensor(change).to(old)
    if not isinstance(new, torch.Tensor):
        raise ValueError(f"{name}: the edit should return a tensor {list(old.shape)}, not a {type(new).__name__}")
    try:
        return new if new.shape == old.shape else new.expand(old.shape)
    except RuntimeError:
        shapes = f"{list(new.shape)} for a value {list(old.shape)}"
        raise ValueError(f"{name}: the edit gives a tensor {shapes}") from None


@contextmanager
def edit(model: nn.Module) -> Iterator[Edits]:
    """Change inner values of `model` inside the block, by assignment to the names of `Edits`.

    A later edit of a name replaces an earlier one; edits with different patterns that match one name apply in the order
    in which they were made. Raises KeyError for a name that the model does not have, ValueError for a value that does
    not fit, RuntimeError inside another `edit` block, or at the end of the block if an edit was never reached.
    """
    edits = Edits(model)
    with tracing.use_editor(edits), ExitStack() as hooks:
        for path, module in model.named_modules():
            hooks.callback(module.register_forward_pre_hook(edits.enter(path)).remove)
            hooks.callback(module.register_forward_hook(edits.leave, always_call=True).remove)
        yield edits
    if unused := edits.unused_names():
        raise RuntimeError(
            f"{unused[0]!r} was not reached: run the model inside the block; tfkit.trace shows its names"
        )
