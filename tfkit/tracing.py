"""Watch a model work, without a line of tracing in the model.

    with tfkit.trace(model) as t:
        model(input_ids)
    t["layers.0.attn.weights"]        # [B,H,Q,K]

Plain forward hooks, installed on entry and gone on exit. With nobody watching, the whole cost is one `is None` in
`attend`. The recorder is a plain module global, because a compiler cannot trace a ContextVar; trace the plain module,
not a compiled one (hooks would cut its graph at every module).
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

# What a key is to a query, as `places` tells it: the later ones win, where a key is met twice.
KINDS = ("hidden", "text", "memory", "window", "global", "random", "chunk", "bucket")
PLACES = ("heads", "rows", "columns", "kinds")


class Editor(Protocol):
    """What `tfkit.edit` installs: it is shown each inner value and returns the one to go on with."""

    def change(self, what: str, value: torch.Tensor) -> torch.Tensor:
        """The value to use in the place of `value`, the inner value `what` of the module that is running."""
        ...


def require_model(model: Any, name: str = "model") -> None:
    """Raises TypeError for what is no model."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"{name} is of type {type(model).__name__}: give a model, a torch.nn.Module")


class Recorder:
    """What was seen: name -> tensors in the order of the calls. `t[name]` is the latest, `t.all(name)` every one."""

    def __init__(self, keep: Sequence[str] = ("*",)) -> None:
        self.keep = tuple(keep)
        self.path: list[str] = []
        self.seen: dict[str, list[torch.Tensor]] = {}

    def put(self, what: str, value: torch.Tensor) -> None:
        """Keeps a value under its name, after the module that is running, where a pattern asks for it."""
        inside = self.path[-1] if self.path else ""
        name = f"{inside}.{what}" if inside else what
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in self.keep):
            self.seen.setdefault(name, []).append(value.detach())

    def all(self, name: str) -> list[torch.Tensor]:
        """Every tensor recorded under this name, one per call. KeyError with near names where there is none."""
        if name not in self.seen:
            last = name.rpartition(".")[2]
            near = [other for other in self.seen if other.endswith(last)] or list(self.seen)
            raise KeyError(f"nothing recorded as {name!r}; there is {', '.join(near[:8]) or 'nothing at all'}")
        return self.seen[name]

    def __getitem__(self, name: str) -> torch.Tensor:
        return self.all(name)[-1]

    def __contains__(self, name: object) -> bool:
        return name in self.seen

    def __iter__(self) -> Iterator[str]:
        return iter(self.seen)

    def __len__(self) -> int:
        return len(self.seen)


def recorder() -> Recorder | None:
    """The recorder in force, or None."""
    return _recorder


def note(what: str, value: torch.Tensor) -> None:
    """Offer an inner value, under the name of the module that is running, to whoever is watching."""
    if _recorder is not None:
        _recorder.put(what, value)


def is_observed() -> bool:
    """Whether a trace or an edit is under way."""
    return _recorder is not None or _editor is not None


def editing() -> bool:
    """Whether an edit is under way."""
    return _editor is not None


def offer(what: str, value: torch.Tensor) -> torch.Tensor:
    """Show an inner value to an edit, which may replace it, and to a trace, which records what is used in the end.

    Returns `value` itself, the same object, where nothing replaces it.
    """
    if _editor is not None:
        value = _editor.change(what, value)
    note(what, value)
    return value


@contextmanager
def use_editor(editor: Editor) -> Iterator[None]:
    """While it lasts, `editor` is offered the inner values. Raises RuntimeError when another edit is under way."""
    global _editor
    if _editor is not None:
        raise RuntimeError("an edit is already under way: leave the first `with tfkit.edit(...)`, or add to it")
    _editor = editor
    try:
        yield
    finally:
        _editor = None


def places(*told: torch.Tensor) -> None:
    """What an attention that meets only some keys, or in another order, tells beside its weights [...,Q,K]: the head
    [...], the position of each query [...,Q] and of each key [...,Q,K], and its kind [...,Q,K], a number in `KINDS`;
    all int64, broadcastable to that. Where a row is given twice, the later one counts. It holds for a batch of one: the
    blocks of several would be mixed."""
    for what, value in zip(PLACES, told, strict=True):
        note(what, value)


def _watch(rec: Recorder, path: str, module: nn.Module) -> list:
    def enter(_module, _args):
        rec.path.append(path)

    def leave(_module, _args, output):
        if isinstance(output, torch.Tensor):
            rec.put("out", output)
        rec.path.pop()

    # always_call: a forward that raises must not leave its name on the path
    return [module.register_forward_pre_hook(enter), module.register_forward_hook(leave, always_call=True)]


@contextmanager
def follow_modules(model: nn.Module, rec: Recorder) -> Iterator[None]:
    """While it lasts, `rec.path` ends in the name of the module that runs, and `rec` is offered what modules return."""
    handles = [handle for path, module in model.named_modules() for handle in _watch(rec, path, module)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def trace(model: nn.Module, keep: Sequence[str] = ("*",)) -> Iterator[Recorder]:
    """Record the attention weights and scores and every module's output, of each call inside the block.

    keep: glob patterns over names, such as ("*.weights",). Names are the module's path and what it is: "scores",
    "weights" and "seen" (bool: may look), each [B,H,Q,K], of an attention, and `PLACES` of a sparse one, whose blocks
    stand where they please; "out" of any module that returns a tensor. Outputs are bit for bit those of an
    untraced call. Raises RuntimeError when another trace is under way, TypeError for what is no model.
    """
    require_model(model)
    rec = Recorder(keep)
    with recording(model, rec):
        yield rec


@contextmanager
def recording(model: nn.Module, rec: Recorder) -> Iterator[None]:
    """While it lasts, `rec` is offered all that is to be seen. Raises RuntimeError when another trace is under way."""
    global _recorder
    if _recorder is not None:
        raise RuntimeError("a trace is already under way: leave the first `with trace(...)` before starting another")
    with follow_modules(model, rec):
        _recorder = rec
        try:
            yield
        finally:
            _recorder = None
