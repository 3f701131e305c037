"""Proxies for a student's functions and objects, which stay in the box while an instructor's test uses them.

`exec(test, Names(student, imports))` runs an unchanged nbgrader test outside the box. Tensors, numbers and lists come
back as themselves, everything else as a Proxy. What the test imports or defines lives in the grader, not in the box.

What a test asks of an object (a call, an attribute, an item, its length or text) is a question to the box; what it
makes of the answers is judgement, and made outside on plain data alone. An object of the student's that meets an
operator or a comparison therefore ends the test: the difference of two answers would be whatever the student's class
says, and the other operand, which may be the expected value, would be carried into the box. It fails where data was
expected; an object of a class that the release asks for is as it should be, and a person grades the test.
"""

from __future__ import annotations

import ast
import builtins
import dis
import re
import sys
import types
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from autograder.exercises.parse import parse_source
from autograder.own_tests.mutants import Call
from autograder.sandbox.client import Handle, SandboxClient, StudentError
from autograder.sandbox.inside import wire
from autograder.sandbox.inside.agent import leaves

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
QUESTIONS = ("len", "getitem", "setitem", "delitem", "str", "repr")  # asked of the box, as calls and attributes are
OPERATORS = """add radd sub rsub mul rmul matmul rmatmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow neg
    pos abs int float""".split()  # noqa: SIM905  # run in the box only in a test with the line OBJECTS
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "bool")  # never, since the result would be the verdict
# Methods of tensors and arrays, and other comparisons: on an object that the student's code returned instead of data,
# a call such as `out.sub(expected)` is an operator by another name. Those that modules have as well are questions.
DATA_METHODS = ({*dir(torch.Tensor), *dir(np.ndarray), "startswith", "endswith", "count", "issubset", "issuperset",
                 "isdisjoint", "equals"} - set(dir(torch.nn.Module)))  # fmt: skip


# Imports that these names stand for in a test, where its notebook imports them in a cell that students can change.
USUAL_IMPORTS = {name: f"import {name}" for name in ("torch", "numpy", *TRUSTED[2:])} | {
    "np": "import numpy as np", "nn": "from torch import nn", "F": "import torch.nn.functional as F",
}  # fmt: skip
# A marker line of a test: calls may change the test's own arguments in place. Without it the box gets copies.
IN_PLACE = re.compile(r"(?m)^\s*#\s*autograder: in place\s*$")
# Another: operators and methods of the student's own objects are what the test is about, as in `Vector(1) + Vector(2)`.
OBJECTS = re.compile(r"(?m)^\s*#\s*autograder: objects\s*$")


@dataclass
class CurrentTest:
    """The test that is running, which the proxies of one student's objects share, and what came of it so far."""

    student: SandboxClient
    writes_back: bool = False  # see IN_PLACE
    allows_objects: bool = False  # see OBJECTS
    calls: list[Call] = field(default_factory=list)  # of the student's functions, with their answers
    refused: list[UngradableUse] = field(default_factory=list)  # even if the test caught them

    def begin(self, source: str) -> None:
        """The next test, from its source."""
        self.writes_back = IN_PLACE.search(source) is not None
        self.allows_objects = OBJECTS.search(source) is not None
        self.calls, self.refused = [], []


class UngradableUse(TypeError):
    """A test used a name or an object in a way that says nothing about the answer's results, and cannot go on.

    `fault`: it is the answer's, which fails; else the test is not graded and a person decides. Every one is kept in
    `CurrentTest.refused`, so that a test which catches all exceptions is not passed by it.
    """

    def __init__(self, test: CurrentTest, message: str, fault: bool) -> None:
        super().__init__(message)
        self.fault = fault
        test.refused.append(self)


class Names(dict):
    """The globals of a test: names that it defined itself, trusted imports, then the student's names.

    imports: name → statement. classes: names of classes that the released text gives to the answers. reserved: name →
    why it has no value, for names that only cells of the instructor may define, and whether that is the answer's fault.
    """

    def __init__(self, student: SandboxClient, imports: dict[str, str], classes: Collection[str] = ()) -> None:
        super().__init__()
        self.test = CurrentTest(student)
        self.imports, self.classes = imports, classes
        self.reserved: dict[str, tuple[str, bool]] = {}

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        if name in self.imports:
            exec(self.imports[name], self)
            return self[name]
        if name in self.reserved:
            raise UngradableUse(self.test, *self.reserved[name])
        try:
            return wrap(self.test, self.test.student.value(name), "class" if name in self.classes else "", name)
        except StudentError as error:
            if error.kind == "missing":
                raise KeyError(name) from None  # Python turns it into a NameError
            raise

    def reserve(self, names: Iterable[str], why: str, fault: bool) -> None:
        """Names that were not defined by the cell that should have: they never come from the box."""
        self.reserved |= {name: (f"`{name}` {why}", fault) for name in names if name not in self}


def stored_names(source: str) -> set[str]:
    """The names that running this code as a module would bind. Raises SyntaxError."""
    code = compile(source, "<cell>", "exec")
    return {one.argval for one in dis.get_instructions(code) if one.opname in ("STORE_NAME", "STORE_GLOBAL")}


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
    """A student's object: calls, attributes and items are asked of the box.

    role: "class" for a class that the released text names, "made" for an instance of one and its attributes, "data" for
    a method that data would have, of an object that was returned in place of data; "" for anything else.
    """

    def __init__(self, test: CurrentTest, handle: Handle, role: str = "") -> None:
        self._test, self._handle, self._role = test, handle, role

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the object in the box. Raises what the student's code raised, see `student_exception`."""
        if self._role == "data" and (args or kwargs) and not self._test.allows_objects:
            raise _used_as_data(self)
        return _ask(self, None, args, kwargs, "made" if self._role == "class" else "")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in VISIBLE_DUNDERS:
            raise AttributeError(name)
        role = self._role or ("data" if name in DATA_METHODS else "")
        with student_exception():
            return wrap(self._test, self._handle.attribute(name), role)

    def __iter__(self) -> Iterator[Any]:
        role = "made" if self._role == "made" else ""
        with student_exception():
            return iter([wrap(self._test, item, role) for item in self._handle.items()])

    def __instancecheck__(self, thing: Any) -> bool:
        if not isinstance(thing, Proxy):
            return False
        with student_exception():
            return self._handle.is_class_of(thing._handle)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The nearest of its classes that is torch's or Python's, so that isinstance(model, nn.Module) is true.

        Never a class of data, since data comes as itself: a student's class may call itself torch.Tensor.
        """
        kinds = self._handle.kinds()
        return next(filter(None, map(_library_class, kinds)), Proxy)


def _special(name: str) -> Any:
    def operator(self: Proxy, *args: Any) -> Any:
        """Asks the box; NotImplemented is passed on, so that Python tries the other operand. Raises TypeError for an
        object without such a method, as Python does: `list` asks a generator for its length."""
        try:
            value = _ask(self, name, args, {}, "made" if self._role == "made" else "")
        except StudentError as error:
            if error.kind == "missing":
                raise TypeError(error.message) from None
            raise
        unknown = isinstance(value, Proxy) and "NotImplementedType" in value._handle.ref.type_name
        return NotImplemented if unknown else value

    return operator


def _operator(name: str) -> Any:
    in_the_box = _special(name)

    def operator(self: Proxy, *args: Any) -> Any:
        """Runs in the box if the test allows it. Raises UngradableUse."""
        if not self._test.allows_objects:
            raise _used_as_data(self)
        return in_the_box(self, *args)

    return operator


def _kind(proxy: Proxy) -> str:
    """The name of its class in the box."""
    return str(proxy._handle.ref.type_name.removeprefix("__main__."))


def _is_fault(proxy: Proxy) -> bool:
    """Whether the answer should have given data; a class that the release asks for, and its objects, it should not."""
    return proxy._role not in ("class", "made")


def _used_as_data(proxy: Proxy) -> UngradableUse:
    return UngradableUse(
        proxy._test,
        f"an object of {_kind(proxy)} was used as if it were data: only tensors, numbers and lists can be. If the "
        "test is about such objects, its author allows it by the line `# autograder: objects`",
        fault=_is_fault(proxy),
    )


def _comparison(name: str) -> Any:
    def refuse(self: Proxy, *args: Any) -> Any:
        """Raises UngradableUse, but for None, which comes as itself: no proxy is equal to it."""
        if args == (None,) and name in ("eq", "ne"):
            return name == "ne"
        what = "was used as a truth value" if name == "bool" else "was compared"
        message = f"an object of {_kind(self)} {what}: only tensors, numbers and lists can be"
        raise UngradableUse(self._test, message, fault=_is_fault(self))

    return refuse


for _names, _make in ((QUESTIONS, _special), (OPERATORS, _operator)):
    for _name in _names:
        setattr(Proxy, f"__{_name}__", _make(f"__{_name}__"))
for _name in COMPARISONS:
    setattr(Proxy, f"__{_name}__", _comparison(_name))
DATA = (torch.Tensor, torch.Size, torch.dtype, torch.device, bool, int, float, complex, str, bytes, list, tuple, dict)


def _library_class(name: str) -> type | None:
    """The class of that dotted name in torch or among Python's own; None for any other, and for classes of data."""
    module, _, rest = name.partition(".")
    thing: Any
    if module == "builtins":
        thing = getattr(types, "FunctionType" if rest == "function" else "", None) or getattr(builtins, rest, None)
    elif module == "torch":
        thing = sys.modules["torch"]
        for part in rest.split("."):
            thing = getattr(thing, part, None)
    else:
        return None
    return thing if isinstance(thing, type) and thing is not object and not issubclass(thing, DATA) else None


def wrap(test: CurrentTest, value: Any, role: str = "", name: str = "") -> Any:
    """`value` with a Proxy for every object that stayed in the box; `name`: by which the test asked for it."""
    if isinstance(value, wire.Ref):
        handle = Handle(test.student, value)
        handle.name = name
        return Proxy(test, handle, role)
    if isinstance(value, wire.NamedContainer):
        return value.map_items(lambda item: wrap(test, item, role))
    if isinstance(value, (list, tuple)):
        return type(value)(wrap(test, item, role) for item in value)
    if isinstance(value, dict):
        return {key: wrap(test, item, role) for key, item in value.items()}
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


def _ask(proxy: Proxy, method: str | None, args: tuple, kwargs: dict[str, Any], role: str) -> Any:
    """A call in the box on copies of its arguments, which stay unchanged unless the test allows it, see IN_PLACE.
    Gradients flow through it. role: of the objects in its result."""
    test, handle = proxy._test, proxy._handle
    sent, named = list(_unwrap(args)), _unwrap(kwargs)
    inputs = list(leaves([sent, named]))
    wanted = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in inputs)
    kept = copy_without_history([sent, named]) if wanted else None
    with student_exception():
        watched = handle.observe(method, *sent, **named)
    if test.writes_back:
        _write_back([sent, named], [watched.args_after, watched.kwargs_after])
    if handle.name and method is None:
        test.calls.append((handle.name, *map(copy_without_history, (sent, named, watched.value))))
    value = _differentiable(handle, method, kept, inputs, watched.value) if wanted else watched.value
    return wrap(test, value, role)


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
