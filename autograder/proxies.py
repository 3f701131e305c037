"""Proxies for a student's functions and objects, which stay in the box while an instructor's test uses them.

`exec(test, Names(student, imports))` runs an unchanged nbgrader test outside the box. Tensors, numbers and lists come
back as themselves, everything else as a Proxy. What the test imports or defines lives in the grader, not in the box.
No comparison is ever made in the box: an object that the student's code would have to compare fails the test.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import torch

from autograder.parse import parse_source
from autograder.sandbox.inside import wire
from autograder.sandbox.inside.agent import leaves
from autograder.sandbox_client import Handle, SandboxClient, StudentError
from autograder.stored_mutants import Call

TRUSTED = ("torch", "numpy", "math", "random", "itertools", "functools", "collections", "typing", "copy", "re", "json",
           "string", "operator", "time", "dataclasses")  # fmt: skip
RAISED = (ValueError, TypeError, IndexError, KeyError, AttributeError, RuntimeError, NotImplementedError, NameError,
          AssertionError, ZeroDivisionError, StopIteration, ArithmeticError, LookupError)  # fmt: skip
VISIBLE_DUNDERS = (
    "__name__",
    "__qualname__",
    "__doc__",
    "__module__",
)  # the names with underscores that tests may read
FORWARDED_DUNDERS = """len getitem setitem delitem str repr int float add radd sub rsub mul rmul matmul rmatmul truediv
rtruediv
    floordiv mod pow neg abs""".split()  # noqa: SIM905
COMPARISON_DUNDERS = (
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "bool",
)  # never called in the box, since the result would be the verdict


# Imports that these names stand for in a test, where its notebook imports them in a cell that students can change.
USUAL_IMPORTS = {name: f"import {name}" for name in ("torch", "numpy", *TRUSTED[2:])} | {
    "np": "import numpy as np", "nn": "from torch import nn", "F": "import torch.nn.functional as F",
}  # fmt: skip
# A marker line of a test: calls may change the test's own arguments in place. Without it the box gets copies.
IN_PLACE = re.compile(r"(?m)^\s*#\s*autograder: in place\s*$")


WRITES_BACK: WeakKeyDictionary[SandboxClient, bool] = WeakKeyDictionary()
CALLS: WeakKeyDictionary[SandboxClient, list[Call]] = (
    WeakKeyDictionary()
)  # made from functions by a test, together with the answers


class StudentComparisonError(TypeError):
    """A test compared an object that only the student's own code can compare."""


class Names(dict):
    """The globals of a test: names that it defined itself, trusted imports, then the student's names."""

    def __init__(self, student: SandboxClient, imports: dict[str, str]) -> None:
        super().__init__()
        self.student, self.imports = student, imports

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        if name in self.imports:
            exec(self.imports[name], self)
            return self[name]
        try:
            value = wrap(self.student, self.student.value(name))
            if type(value) is Proxy:
                value._handle.name = name
            return value
        except StudentError as error:
            if error.kind == "missing":
                raise KeyError(name) from None  # Python turns it into a NameError
            raise


def imports_of(sources: Iterable[str], nested: bool = False) -> dict[str, str]:
    """Bound name → import statement, for the libraries that a test may take from these cells; `nested`: for any."""
    found: dict[str, str] = {}
    for source in sources:
        for node in _statements(source):
            if isinstance(node, (ast.Import, ast.ImportFrom)) and not getattr(node, "level", 0):
                found.update(_bound(node, nested))
    return found


def _statements(source: str) -> list[ast.stmt]:
    try:
        return parse_source(source).body
    except SyntaxError:  # it fails in the box with its own message
        return []


def _bound(node: ast.Import | ast.ImportFrom, nested: bool) -> Iterator[tuple[str, str]]:
    for alias in node.names:
        home = node.module if isinstance(node, ast.ImportFrom) else alias.name
        if (not nested and (home or "").split(".")[0] not in TRUSTED) or alias.name == "*":
            continue
        one = ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], 0)
        yield alias.asname or alias.name.split(".")[0], ast.unparse(one)


class Proxy:
    """A student's object: calls, attributes and operators run in the box."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the object in the box. Raises what the student's code raised, see `student_exception`."""
        return _ask(self._handle, None, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in VISIBLE_DUNDERS:
            raise AttributeError(name)
        with student_exception():
            return wrap(self._handle.student, self._handle.attribute(name))

    def __iter__(self) -> Iterator[Any]:
        with student_exception():
            return iter([wrap(self._handle.student, item) for item in self._handle.items()])

    def __instancecheck__(self, thing: Any) -> bool:
        if not isinstance(thing, Proxy):
            return False
        with student_exception():
            return self._handle.is_class_of(thing._handle)

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # type: ignore[override]
        """The nearest of its classes that is torch's or Python's, so that isinstance(model, nn.Module) is true."""
        kinds = self._handle.kinds()
        return next(filter(None, map(_library_class, kinds)), Proxy)


def _special(name: str) -> Any:
    def operator(self: Proxy, *args: Any) -> Any:
        """Runs the operator in the box; NotImplemented is passed on, so that Python tries the other operand."""
        value = _ask(self._handle, name, args, {})
        unknown = isinstance(value, Proxy) and "NotImplementedType" in value._handle.ref.type_name
        return NotImplemented if unknown else value

    return operator


def _refuse_comparison(self: Proxy, *_: Any) -> Any:
    kind = self._handle.ref.type_name.removeprefix("__main__.")
    raise StudentComparisonError(f"an object of {kind} was compared: only tensors, numbers and lists can be")


for _name in FORWARDED_DUNDERS:
    setattr(Proxy, f"__{_name}__", _special(f"__{_name}__"))
for _name in COMPARISON_DUNDERS:
    setattr(Proxy, f"__{_name}__", _refuse_comparison)


def _library_class(name: str) -> type | None:
    """The class of that dotted name in torch or among Python's own; None for any other."""
    module, _, rest = name.partition(".")
    if module == "builtins":
        found = getattr(types, "FunctionType" if rest == "function" else "", None) or getattr(builtins, rest, None)
        return found if isinstance(found, type) and found is not object else None
    if module != "torch":
        return None
    thing: Any = sys.modules["torch"]
    for part in rest.split("."):
        thing = getattr(thing, part, None)
    return thing if isinstance(thing, type) else None


def wrap(student: SandboxClient, value: Any) -> Any:
    """`value` with a Proxy for every object that stayed in the box."""
    if isinstance(value, wire.Ref):
        return Proxy(Handle(student, value))
    if isinstance(value, wire.NamedContainer):
        return value.map_items(lambda item: wrap(student, item))
    if isinstance(value, (list, tuple)):
        return type(value)(wrap(student, item) for item in value)
    if isinstance(value, dict):
        return {key: wrap(student, item) for key, item in value.items()}
    return value


def _unwrap(value: Any) -> Any:
    if type(value) is Proxy:
        return value._handle
    if type(value) in (list, tuple):
        return type(value)(_unwrap(item) for item in value)
    if type(value) is dict:
        return {key: _unwrap(item) for key, item in value.items()}
    return value


@contextmanager
def student_exception() -> Iterator[None]:
    """Raises the student's exception as an instance of its original class too, so that a test can expect it."""
    try:
        yield
    except StudentError as error:
        kind = next((kind for kind in RAISED if error.message.startswith(kind.__name__ + ":")), None)
        if error.kind != "exception" or kind is None:
            raise
        both = type(kind.__name__, (StudentError, kind), {})
        raise both(error.kind, error.message, error.traceback) from None


def _ask(handle: Handle, method: str | None, args: tuple, kwargs: dict[str, Any]) -> Any:
    """A call in the box on copies of its arguments, which stay unchanged unless the test allows it, see IN_PLACE.
    Gradients flow through it."""
    sent, named = list(_unwrap(args)), _unwrap(kwargs)
    inputs = list(leaves([sent, named]))
    wanted = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in inputs)
    kept = copy_without_history([sent, named]) if wanted else None
    with student_exception():
        watched = handle.observe(method, *sent, **named)
    if WRITES_BACK.get(handle.student):
        _write_back([sent, named], [watched.args_after, watched.kwargs_after])
    if handle.name and method is None and handle.student in CALLS:
        CALLS[handle.student].append(
            (handle.name, copy_without_history(sent), copy_without_history(named), copy_without_history(watched.value))
        )
    value = _differentiable(handle, method, kept, inputs, watched.value) if wanted else watched.value
    return wrap(handle.student, value)


def copy_without_history(value: Any) -> Any:
    """The value with copies of its tensors without autograd history."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if type(value) in (list, tuple):
        return type(value)(copy_without_history(item) for item in value)
    return {key: copy_without_history(item) for key, item in value.items()} if type(value) is dict else value


def _write_back(target: Any, source: Any) -> None:
    """Copy the changes that the call made to `source` into `target`, in place."""
    if isinstance(target, torch.Tensor) and isinstance(source, torch.Tensor):
        if target.shape == source.shape and target.dtype == source.dtype and not _same(target, source):
            target.data.copy_(source)
    elif wire.is_array(target) and wire.is_array(source):
        if target.shape == source.shape and target.dtype == source.dtype and target.ndim:
            target[...] = source
    elif type(target) is list and type(source) is list:
        for one, other in zip(target, source, strict=False):
            _write_back(one, other)
        if len(target) != len(source):
            target[:] = source
    elif type(target) is tuple and type(source) in (tuple, list):
        for one, other in zip(target, source, strict=False):
            _write_back(one, other)
    elif type(target) is dict and type(source) is dict:
        for key in target.keys() & source.keys():
            _write_back(target[key], source[key])


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(((a == b) | ((a != a) & (b != b))).all())


def _differentiable(handle: Handle, method: str | None, kept: Any, inputs: list[torch.Tensor], value: Any) -> Any:
    """`value` with its floating-point tensors as functions of `inputs`, differentiated in the box."""
    outs = list(leaves(value))
    if not outs:
        return value

    class BoxedFunction(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
            """Returns what the box has answered already, without computing it again."""
            return tuple(out.clone() for out in outs)

        @staticmethod
        def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
            """Makes one call into the box; None for inputs without a gradient."""
            with student_exception():
                _, grads, _ = handle.vjp(method, kept[0], kept[1], list(cotangents))
            return tuple([*grads, *[None] * len(inputs)][: len(inputs)])

    made = BoxedFunction.apply(*inputs)
    return _replaced(value, iter(made))


def _replaced(value: Any, new: Iterator[torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return next(new) if value.is_floating_point() or value.is_complex() else value
    if isinstance(value, wire.NamedContainer):
        return value.map_items(lambda item: _replaced(item, new))
    if isinstance(value, (list, tuple)):
        return type(value)(_replaced(item, new) for item in value)
    if not isinstance(value, dict):
        return value
    made = {key: _replaced(value[key], new) for key in wire.sort_keys(value)}  # in the order of `leaves`
    return {key: made[key] for key in value}
