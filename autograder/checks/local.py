"""Trusted code in this process with the same methods as a boxed student: the references, and our own wrong answers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from types import CodeType
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_map

from autograder.sandbox.client import StudentError
from autograder.sandbox.inside.agent import leaves, vector_jacobian_products

_sizes: ContextVar[list[int] | None] = ContextVar("sizes", default=None)
ATOMS = (Tensor, int, float, str, type(None))  # of arguments that hold nothing else
LEAF_BYTES = 64  # bytes that a number, a word or a tensor's header takes in a frame


@contextmanager
def answer_sizes() -> Iterator[list[int]]:
    """Collects, inside the block, the bytes that each answer would take on its way out of a box."""
    sizes: list[int] = []
    before = _sizes.set(sizes)
    try:
        yield sizes
    finally:
        _sizes.reset(before)


def _record_size(value: Any) -> Any:
    """Records the size of `value` and returns it."""
    sizes = _sizes.get()
    if sizes is not None:
        sizes.append(sum(_bytes_of(leaf) for leaf in tree_flatten(value)[0]))
    return value


def _bytes_of(leaf: Any) -> int:
    if isinstance(leaf, Tensor):
        return leaf.numel() * leaf.element_size() + LEAF_BYTES
    return LEAF_BYTES + (len(leaf) if isinstance(leaf, (str, bytes)) else 0)


@lru_cache(maxsize=64)
def _compiled(source: str) -> CodeType:
    return compile(source, "<given names>", "exec")


class LocalSubject:
    """Calls the objects in `namespace` in this process; their exceptions become StudentError, as from a box.

    program: gives a source that defines them, for a box; None if there is none.
    """

    def __init__(self, namespace: dict[str, Any], program: Callable[[], str] | None = None) -> None:
        self.namespace, self._program = namespace, program
        self._defined = [name for name, value in namespace.items() if callable(value)]

    @classmethod
    def from_source(cls, text: str, file: str = "answer.py") -> LocalSubject:
        """What this program defines. Raises whatever it raises when it runs; `file` is its name in a traceback."""
        namespace: dict[str, Any] = {"__name__": "answer"}
        exec(compile(text, file, "exec", dont_inherit=True), namespace)
        return cls(namespace, lambda: text)

    def program(self) -> tuple[str, list[str]]:
        """A source that defines these objects, and their names. Raises LookupError if it is not known."""
        if self._program is None:
            raise LookupError("no source is known that defines the reference, so it cannot be measured in a box")
        return self._program(), self._defined

    def limit_answer(self, size: int | None) -> None:
        """As SandboxClient.limit_answer, but without a limit, since the code is trusted."""

    def kind(self, name: str) -> str | None:
        """The kind of the object: function, class, value, or None if there is none of that name."""
        if name not in self.namespace:
            return None
        value = self.namespace[name]
        return "class" if isinstance(value, type) else "function" if callable(value) else "value"

    def bind(self, source: str, names: list[str]) -> None:
        """Runs `source` in a namespace of its own and copies `names` from it."""
        made: dict[str, Any] = {"__name__": "given_names"}
        exec(_compiled(source), made)
        self.namespace.update({name: made[name] for name in names})

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The function's value on copies of the arguments."""
        with _as_student_error():
            return _detached(self._named(name)(*_copied(args), **_copied(kwargs)))

    def vjp(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], cotangents: Any) -> tuple[Any, list[Any]]:
        """The value, and the gradient of every floating-point argument (None if the value does not depend on it)."""
        return _vjp(self._named(name), args, kwargs, cotangents)[:2]

    def build(self, name: str, *args: Any, **kwargs: Any) -> LocalHandle:
        """An object of the class `name`."""
        with _as_student_error():
            return LocalHandle(self._named(name)(*_copied(args), **_copied(kwargs)))

    def build_loaded(
        self, name: str, args: Sequence[Any], state: dict[str, Tensor] | None, dtype: torch.dtype | None = None
    ) -> LocalHandle:
        """As `build`, `LocalHandle.load` and `LocalHandle.to` one after the other."""
        handle = self.build(name, *args)
        if state is not None:
            handle.load(state)
        return handle if dtype is None else handle.to(dtype)

    def keep(self, values: Sequence[Any]) -> list[LocalHandle]:
        """Copies of the values as objects that can be arguments of several calls."""
        return [LocalHandle(_copied(value)) for value in values]

    def _named(self, name: str) -> Callable[..., Any]:
        if name not in self.namespace:
            raise StudentError("missing", f"nothing called {name} is defined")
        function: Callable[..., Any] = self.namespace[name]
        return function


class LocalHandle:
    """An object built by `LocalSubject.build`: a module, or another object that was kept."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the state dict's entries."""
        with _as_student_error():
            return {name: tuple(value.shape) for name, value in self.module.state_dict().items()}

    def load(self, state: dict[str, Tensor]) -> None:
        """Load a state dict strictly. Raises StudentError if names or shapes do not match."""
        with _as_student_error():
            self.module.load_state_dict(state, strict=True)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The module on copies of these arguments, detached. Raises StudentError of kind exception."""
        with _as_student_error():
            return _detached(self.module(*_copied(args), **_copied(kwargs)))

    def method(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The value of one of its methods."""
        with _as_student_error():
            return _detached(getattr(self.module, name)(*_copied(args), **_copied(kwargs)))

    def to(self, how: torch.dtype | str) -> LocalHandle:
        """Changes the dtype or the device of the parameters; an object that is not a module stays as it is."""
        with _as_student_error():
            if isinstance(self.module, nn.Module):
                self.module.to(how)
        return self

    def vjp(
        self, method: str | None, args: tuple[Any, ...], kwargs: dict[str, Any], cotangents: Any
    ) -> tuple[Any, list[Any], dict[str, Any]]:
        """The value, the arguments' gradients and the parameters' gradients."""
        function = getattr(self.module, method) if method else self.module
        learning = {name: value for name, value in self.module.named_parameters() if value.requires_grad}
        return _vjp(function, args, kwargs, cotangents, learning)


def _vjp(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    cotangents: list[Any],
    parameters: dict[str, Any] | None = None,
) -> tuple[Any, list[Any], dict[str, Any]]:
    args, kwargs = _with_own_tensors(args), _with_own_tensors(kwargs)
    floats = list(leaves((args, kwargs)))  # as in a box, where lists and keywords have gradients too
    for arg in floats:
        arg.requires_grad_()
    parameters = parameters or {}
    wanted = [*floats, *parameters.values()]
    with _as_student_error():
        value = function(*_unwrapped(args), **_unwrapped(kwargs))
        pairs = _paired(value, cotangents)
        grads = vector_jacobian_products(pairs, wanted) if pairs and wanted else [None] * len(wanted)
    named = dict(zip(parameters, grads[len(floats) :], strict=True))
    _record_size([value, *grads])
    return _detached(value), list(grads[: len(floats)]), named


def _paired(value: Any, cotangents: list[Any]) -> list[tuple[Tensor, Tensor]]:
    """The outputs with their cotangents. Raises what a box raises in these words, by which two crashes are compared."""
    outs = [leaf for leaf in leaves(value) if leaf.is_floating_point()]
    pairs = []
    for number, (out, seed) in enumerate(zip(outs, cotangents, strict=False)):
        if not out.requires_grad:
            continue
        if out.shape != seed.shape:
            raise ValueError(f"output {number} has shape {list(out.shape)}, expected {list(seed.shape)}")
        pairs.append((out, seed.to(out.dtype)))
    return pairs


@contextmanager
def _as_student_error() -> Iterator[None]:
    try:
        yield
    except StudentError:
        raise
    except Exception as error:
        raise StudentError("exception", f"{type(error).__name__}: {error}") from error


def _copied(tree: Any) -> Any:
    """Tensors as copies, and handles as the objects behind them."""
    if type(tree) is dict and not tree:
        return {}
    if type(tree) is tuple and all(isinstance(leaf, ATOMS) for leaf in tree):  # nearly all arguments, at little cost
        return tuple(leaf.detach().clone() if isinstance(leaf, Tensor) else leaf for leaf in tree)
    return _unwrapped(_with_own_tensors(tree))


def _with_own_tensors(tree: Any) -> Any:
    """The tree with copies of its tensors, without their gradients."""
    return tree_map(lambda leaf: leaf.detach().clone() if isinstance(leaf, Tensor) else leaf, copy.copy(tree))


def _unwrapped(tree: Any) -> Any:
    """The tree with the objects behind its handles."""
    return tree_map(lambda leaf: leaf.module if isinstance(leaf, LocalHandle) else leaf, tree)


def _detached(tree: Any) -> Any:
    """The value as a box would send it, without its autograd history."""
    _record_size(tree)
    if isinstance(tree, Tensor):
        return tree.detach()
    if type(tree) is tuple and all(isinstance(leaf, ATOMS) for leaf in tree):  # as `_copied`, for several results
        return tuple(leaf.detach() if isinstance(leaf, Tensor) else leaf for leaf in tree)
    return tree_map(lambda leaf: leaf.detach() if isinstance(leaf, Tensor) else leaf, tree)
