"""What a call computes, operation by operation, in any code: tfkit's, a student's or another library's."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from tfkit import tracing

_NOT_SHOWN = (os.path.dirname(torch.__file__) + os.sep, __file__, "<frozen")
# operations that only move numbers
_SHAPES = {"_unsafe_view", "clone", "contiguous", "detach", "alias", "lift_fresh", "_to_copy", "_reshape_alias"}


@dataclass(frozen=True)
class Code:
    """An expression of the code that ran an operation, the name that its value is assigned to, and its location."""

    text: str = ""
    name: str = ""
    where: str = ""


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation. inputs: the tensors it took; parents: the operation that made each, or None; value: its result
    at that time; arguments: by PyTorch's names."""

    name: str
    module: str
    code: Code
    inputs: tuple[Tensor, ...]
    parents: tuple[Operation | None, ...]
    value: Tensor
    arguments: dict[str, Any]

    @property
    def reshapes(self) -> bool:
        """Whether it only moves numbers."""
        return self.name in _SHAPES or bool(self.arguments.get("view"))

    def parent(self, index: int = 0) -> Operation | None:
        """The operation that made an input, skipping those that only move numbers."""
        found = self.parents[index] if index < len(self.parents) else None
        while found is not None and found.reshapes:
            found = found.parents[0] if found.parents else None
        return found


class Operations(TorchDispatchMode):
    """Lists the operations that run inside its context."""

    def __init__(self, path: list[str]) -> None:
        super().__init__()
        self.all: list[Operation] = []
        self._path = path
        self._made: dict[int, tuple[Tensor, Operation]] = {}  # by identity, of tensors that are kept alive

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Runs the operation and records it."""
        given = {argument.name: value for argument, value in zip(func._schema.arguments, args, strict=False)}
        inputs = tuple(_tensors([*args, *(kwargs or {}).values()]))
        parents = tuple(self._made.get(id(tensor), (None, None))[1] for tensor in inputs)
        out = func(*args, **(kwargs or {}))
        view = bool(func.is_view)
        code = called_from(sys._getframe(1))
        name = func._schema.name.removeprefix("aten::")
        for made in _tensors([out]):
            value = made.detach() if view else made.detach().clone()
            arguments = {**given, **(kwargs or {}), "view": view}
            module = self._path[-1] if self._path else ""
            self._note(made, Operation(name.removesuffix("_"), module, code, inputs, parents, value, arguments))
        return out

    def _note(self, made: Tensor, operation: Operation) -> None:
        self.all.append(operation)
        self._made[id(made)] = (made, operation)
        base = made._base
        if base is not None and not operation.arguments["view"]:  # written into a part of a tensor
            whole = Operation(**{**vars(operation), "value": base.detach().clone()})
            self._made[id(base)] = (base, whole)

    def producer(self, tensor: Tensor) -> Operation | None:
        """The operation that made a tensor, or None for an input."""
        return self._made.get(id(tensor), (None, None))[1]


def _tensors(values: Any) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)


@contextmanager
def operations(call: Callable[..., Any]) -> Iterator[Operations]:
    """Lists the operations that run inside the context, each with its submodule if `call` is a module, which is in
    evaluation mode meanwhile. Not in inference mode, in which PyTorch reports linear layers and products as
    single operations."""
    recorder = tracing.Recorder(())
    watched = call if isinstance(call, nn.Module) else nn.Identity()
    training = {module: module.training for module in watched.modules()}
    watched.eval()
    try:
        normal = torch.inference_mode(False), torch.no_grad()
        with normal[0], normal[1], tracing.follow_modules(watched, recorder), Operations(recorder.path) as found:
            yield found
    finally:
        for module, mode in training.items():
            module.training = mode


def called_from(frame: FrameType | None) -> Code:
    """The innermost expression outside PyTorch and this package."""
    while frame is not None and frame.f_code.co_filename.startswith(_NOT_SHOWN):
        frame = frame.f_back
    if frame is None:
        return Code()
    positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    first, last, start, end = positions
    if first is None or last is None or start is None or end is None:
        return Code()
    return _code(frame.f_code.co_filename, frame.f_code.co_qualname, first, last, start, end)


@functools.lru_cache(4096)
def _code(file: str, function: str, first: int, last: int, start: int, end: int) -> Code:
    lines = [linecache.getline(file, line).encode() for line in range(first, last + 1)]
    if not any(lines):
        return Code()
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    text = " ".join(line.decode(errors="replace").strip() for line in lines)
    inside = function.replace("<locals>.", "").removesuffix(".forward")
    where = f"line {first}" if inside == "<module>" else f"{inside}, line {first}"
    return Code(text, _target(file, (first, start, last, end)), where)


@functools.lru_cache(64)
def _assigned(file: str, size: int) -> dict[tuple[int, int, int, int], str]:
    """The location of an expression in a file -> the single name that it is assigned to."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:  # a cell with magics: its values have no names
        return {}
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = node.value
            place = (value.lineno, value.col_offset, value.end_lineno or 0, value.end_col_offset or 0)
            found[place] = node.targets[0].id
    return found


def _target(file: str, place: tuple[int, int, int, int]) -> str:
    return _assigned(file, len(linecache.getlines(file))).get(place, "")
