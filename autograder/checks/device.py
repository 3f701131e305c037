"""Checks on another device: arguments are put there, answers come home to the CPU, where all is drawn and compared.

A check therefore knows of no device, and what it does with an answer needs no card of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from autograder.checks.compare import WrongDevice
from autograder.checks.local import LocalHandle
from autograder.sandbox import SandboxError
from autograder.sandbox_client import Handle, SandboxClient, StudentError


def choose(asked: str, backend: Any) -> tuple[str, str]:
    """("cuda" or "cpu", why there is no card) for "auto", "cpu" or "cuda", in the boxes of this backend."""
    if asked == "cpu":
        return "cpu", ""
    why = lack_of_card(backend)
    return "cpu" if why and asked == "auto" else "cuda", why


@cache
def lack_of_card(backend: Any) -> str:
    """Why neither checks nor boxes of this backend can use a CUDA device, tried for real; "" where they can."""
    if not torch.cuda.is_available():
        return "no CUDA device is here"
    if not backend.cards:
        return f"boxes of {backend.name} reach no graphics card"
    torch.backends.cudnn.allow_tf32 = False  # as in the box
    try:
        with SandboxClient(backend) as student:
            student.start_device("cuda")
    except SandboxError as error:
        return str(error)
    return ""


class DeviceSubject:
    """A subject, boxed or local, that is asked on `device` ("cuda", or a device of another kind that torch has)."""

    def __init__(self, subject: Any, device: str) -> None:
        self.subject, self.device = subject, device

    def allow(self, size: int | None) -> None:
        """As the subject's own."""
        self.subject.allow(size)

    def bind(self, source: str, names: list[str]) -> None:
        """As the subject's own."""
        self.subject.bind(source, names)

    def kind(self, name: str) -> str | None:
        """As the subject's own."""
        kind: str | None = self.subject.kind(name)
        return kind

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The function's value on arguments that lie on the device."""
        there = _There(self.device)
        return there.answer(self.subject.call(name, *there.put(args), **there.put(kwargs)))

    def vjp(self, name: str, args: Any, kwargs: dict[str, Any], cotangents: Any) -> tuple[Any, list[Any]]:
        """The value and the gradients of the arguments."""
        there = _There(self.device)
        out, grads = self.subject.vjp(name, there.put(args), there.put(kwargs), there.put(cotangents))
        return there.answer(out), there.home(grads)

    def build(self, name: str, *args: Any, **kwargs: Any) -> DeviceHandle:
        """An object of the class, moved to the device."""
        there = _There(self.device)
        made = self.subject.build(name, *there.put(args), **there.put(kwargs))
        return DeviceHandle(made.to(self.device), self.device)


class DeviceHandle:
    """An object whose parameters lie on the device."""

    def __init__(self, handle: Any, device: str) -> None:
        self.handle, self.device = handle, device

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """As the handle's own."""
        shapes: dict[str, tuple[int, ...]] = self.handle.state_shapes()
        return shapes

    def load(self, state: dict[str, Tensor]) -> None:
        """Load strictly."""
        self.handle.load(_There(self.device).put(state))

    def to(self, *how: Any) -> DeviceHandle:
        """Another dtype for the parameters."""
        self.handle.to(*how)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The object on these arguments, on the device; the answer on the CPU."""
        there = _There(self.device, inputs=True)
        return there.answer(self.handle(*there.put(args), **there.put(kwargs)))

    def method(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The value of one of its methods."""
        there = _There(self.device, inputs=True)
        return there.answer(self.handle.method(name, *there.put(args), **there.put(kwargs)))

    def vjp(
        self, method: str | None, args: Any, kwargs: dict[str, Any], cotangents: Any
    ) -> tuple[Any, list[Any], dict[str, Any]]:
        """As DeviceSubject.vjp, with the gradients of the parameters."""
        there = _There(self.device, inputs=True)
        out, grads, named = self.handle.vjp(method, there.put(args), there.put(kwargs), there.put(cotangents))
        return there.answer(out), there.home(grads), there.home(named)


class _There:
    """One call's way to the device and back. `inputs`: something of what is asked lies there, so must the answer."""

    def __init__(self, device: str, inputs: bool = False) -> None:
        self.device, self.inputs = device, inputs
        self.made: dict[int, Tensor] = {}  # one tensor passed twice arrives as one tensor

    def put(self, tree: Any) -> Any:
        """Tensors are copied to the device and handles unwrapped; the grader's functions still work on the CPU."""
        return tree_map(self._put, tree)

    def _put(self, leaf: Any) -> Any:
        if isinstance(leaf, Tensor):
            self.inputs = True
            return self.made.setdefault(id(leaf), _moved(leaf, self.device))
        if isinstance(leaf, DeviceHandle):
            return leaf.handle
        return self._function(leaf) if callable(leaf) and not isinstance(leaf, (Handle, LocalHandle)) else leaf

    def _function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the grader's works at home, and answers on the device."""
        return lambda *args, **kwargs: _There(self.device).put(function(*self.home(args), **self.home(kwargs)))

    def home(self, tree: Any) -> Any:
        """Every tensor of the tree on the CPU, wherever it lies."""
        return tree_map(lambda leaf: _moved(leaf, "cpu") if isinstance(leaf, Tensor) else leaf, tree)

    def answer(self, tree: Any) -> Any:
        """Tensors on the CPU; Elsewhere in place of one that should lie on the device and does not."""
        return tree_map(self._answer, tree)

    def _answer(self, leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        stays = leaf.device.type == torch.device(self.device).type or not self.inputs
        return _moved(leaf, "cpu") if stays else WrongDevice(leaf.device.type, self.device)


def _moved(value: Tensor, device: str) -> Tensor:
    try:
        return value.to(device)
    except (RuntimeError, NotImplementedError, TypeError) as error:  # a dtype that the device lacks; a full card
        raise StudentError("device", f"{device} takes no such tensor: {error}") from error
