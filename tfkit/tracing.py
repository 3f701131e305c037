"""Record what a model computes, without any tracing code in the model.

    with tfkit.trace(model) as t:
        model(input_ids)
    t["layers.0.attn.weights"]        # [B,H,Q,K]

It uses plain forward hooks, installed on entry and removed on exit. Without a trace, the only cost is one `is None` in
`attend`. The recorder is a module global, because compilers cannot trace a ContextVar; trace the plain module, not a
compiled one (hooks would break its graph at every module).
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch import nn

_recorder: Recorder | None = None
_editor: Editor | None = None  # see `tfkit.edit`

# The kinds of key that `note_positions` reports: if a key occurs twice, the later kind in this list counts.
KINDS = ("hidden", "text", "memory", "window", "global", "random", "chunk", "bucket")
POSITIONS = ("heads", "rows", "columns", "kinds")


class Editor(Protocol):
    """The interface of `tfkit.edit`: it receives each inner value and returns the value to use."""

    def change(self, what: str, value: torch.Tensor) -> torch.Tensor:
        """The value to use in place of `value`, the inner value `what` of the running module."""
        ...


def require_model(model: Any, name: str = "model") -> None:
    """Raises TypeError for an object that is not a model."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"{name} is of type {type(model).__name__}: give a model, a torch.nn.Module")


class Recorder:
    """The recorded values: name -> tensors in the order of the calls. `t[name]` is the last, `t.all(name)` every
    one."""

    def __init__(self, keep: Sequence[str] = ("*",)) -> None:
        self.keep = tuple(keep)
        self.path: list[str] = []
        self.tensors: dict[str, list[torch.Tensor]] = {}

    def record(self, what: str, value: torch.Tensor) -> None:
        """Records a value under its name, prefixed with the path of the running module, if a pattern matches."""
        inside = self.path[-1] if self.path else ""
        name = f"{inside}.{what}" if inside else what
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in self.keep):
            self.tensors.setdefault(name, []).append(value.detach())

    def all(self, name: str) -> list[torch.Tensor]:
        """Every tensor recorded under this name, one per call. Raises KeyError with similar names if there is none."""
        if name not in self.tensors:
            last = name.rpartition(".")[2]
            near = [other for other in self.tensors if other.endswith(last)] or list(self.tensors)
            raise KeyError(f"nothing recorded as {name!r}; recorded: {', '.join(near[:8]) or 'nothing'}")
        return self.tensors[name]

    def __getitem__(self, name: str) -> torch.Tensor:
        return self.all(name)[-1]

    def __contains__(self, name: object) -> bool:
        return name in self.tensors

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)


def recorder() -> Recorder | None:
    """The active recorder, or None."""
    return _recorder


def note(what: str, value: torch.Tensor) -> None:
    """Offer an inner value, under the path of the running module, to a trace."""
    if _recorder is not None:
        _recorder.record(what, value)


def is_observed() -> bool:
    """Whether a trace or an edit is active."""
    return _recorder is not None or _editor is not None


def editing() -> bool:
    """Whether an edit is active."""
    return _editor is not None


def offer(what: str, value: torch.Tensor) -> torch.Tensor:
    """Offer an inner value to an edit, which may replace it, and to a trace, which records the value that is used.

    Returns `value` itself, the same object, if nothing replaces it.
    """
    if _editor is not None:
        value = _editor.change(what, value)
    note(what, value)
    return value


@contextmanager
def use_editor(editor: Editor) -> Iterator[None]:
    """A context in which `editor` receives the inner values. Raises RuntimeError inside another edit."""
    global _editor
    if _editor is not None:
        raise RuntimeError("an edit is already active: leave the first `with tfkit.edit(...)`, or add to it")
    _editor = editor
    try:
        yield
    finally:
        _editor = None


def note_positions(*positions: torch.Tensor) -> None:
    """Records where the weights [...,Q,K] of an attention with selected or reordered keys belong: the head [...], the
    position of each query [...,Q] and of each key [...,Q,K], and the kind of key [...,Q,K], an index of `KINDS`; all
    int64, broadcastable to the weights' shape. If a row is recorded twice, the later one counts. It works for a batch
    of one only, as the blocks of several rows would be mixed."""
    for what, value in zip(POSITIONS, positions, strict=True):
        note(what, value)


def _watch(rec: Recorder, path: str, module: nn.Module) -> list:
    def enter(_module, _args):
        rec.path.append(path)

    def leave(_module, _args, output):
        if isinstance(output, torch.Tensor):
            rec.record("out", output)
        rec.path.pop()

    # always_call: the path is restored even if a forward raises
    return [module.register_forward_pre_hook(enter), module.register_forward_hook(leave, always_call=True)]


@contextmanager
def follow_modules(model: nn.Module, rec: Recorder) -> Iterator[None]:
    """A context in which `rec.path` ends in the name of the running module, and `rec` is offered what modules
    return."""
    handles = [handle for path, module in model.named_modules() for handle in _watch(rec, path, module)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def trace(model: nn.Module, keep: Sequence[str] = ("*",)) -> Iterator[Recorder]:
    """Record the attention weights and scores and every module's output in each call inside the block.

    keep: glob patterns of names, such as ("*.weights",). A name is the module's path and the kind of value: for an
    attention "scores", "weights" and "seen" (bool: may attend), each [B,H,Q,K]; for a sparse attention also
    `POSITIONS`, since its blocks are in another order; for any module that returns a tensor "out". Outputs are bit for
    bit those of an untraced call. Raises RuntimeError inside another trace, TypeError for an object that is not a
    model.
    """
    require_model(model)
    rec = Recorder(keep)
    with recording(model, rec):
        yield rec


@contextmanager
def recording(model: nn.Module, rec: Recorder) -> Iterator[None]:
    """A context in which `rec` is offered all that can be traced. Raises RuntimeError inside another trace."""
    global _recorder
    if _recorder is not None:
        raise RuntimeError("a trace is already active: leave the first `with trace(...)` before starting another")
    with follow_modules(model, rec):
        _recorder = rec
        try:
            yield
        finally:
            _recorder = None
