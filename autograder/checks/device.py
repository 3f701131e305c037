"""Checks on another device: arguments are moved there and answers back to the CPU.

Checks therefore need not handle devices, and evaluating an answer needs no GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from autograder.checks.compare import WrongDevice
from autograder.checks.local import LocalHandle
from autograder.sandbox import SandboxError
from autograder.sandbox.client import Handle, SandboxClient, StudentError


def choose(requested: str, backend: Any) -> tuple[str, str]:
    """("cuda" or "cpu", why there is no GPU) for "auto", "cpu" or "cuda", in the boxes of this backend."""
    if requested == "cpu":
        return "cpu", ""
    why = no_gpu_reason(backend)
    return "cpu" if why and requested == "auto" else "cuda", why


@cache
def no_gpu_reason(backend: Any) -> str:
    """Why checks and boxes of this backend can't use a CUDA device, found by a test run; "" if they can."""
    if not torch.cuda.is_available():
        return "this machine has no CUDA device"
    if not backend.cards:
        return f"the {backend.name} sandbox cannot use a GPU"
    torch.backends.cudnn.allow_tf32 = False  # as in the box
    try:
        with SandboxClient(backend) as student:
            student.start_device("cuda")
    except SandboxError as error:
        return str(error)
    return ""


class DeviceSubject:
    """A subject, boxed or local, whose code runs on `device` ("cuda", or another device type of torch)."""

    def __init__(self, subject: Any, device: str) -> None:
        self.subject, self.device = subject, device

    def limit_answer(self, size: int | None) -> None:
        """Delegates to the subject."""
        self.subject.limit_answer(size)

    def bind(self, source: str, names: list[str]) -> None:
        """Delegates to the subject."""
        self.subject.bind(source, names)

    def kind(self, name: str) -> str | None:
        """Delegates to the subject."""
        kind: str | None = self.subject.kind(name)
        return kind

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The function's value for arguments on the device."""
        transfer = _DeviceTransfer(self.device)
        return transfer.answer(self.subject.call(name, *transfer.to_device(args), **transfer.to_device(kwargs)))

    def vjp(self, name: str, args: Any, kwargs: dict[str, Any], cotangents: Any) -> tuple[Any, list[Any]]:
        """The value and the gradients of the arguments."""
        transfer = _DeviceTransfer(self.device)
        out, grads = self.subject.vjp(
            name, transfer.to_device(args), transfer.to_device(kwargs), transfer.to_device(cotangents)
        )
        return transfer.answer(out), transfer.to_cpu(grads)

    def build(self, name: str, *args: Any, **kwargs: Any) -> DeviceHandle:
        """An object of the class, moved to the device."""
        transfer = _DeviceTransfer(self.device)
        made = self.subject.build(name, *transfer.to_device(args), **transfer.to_device(kwargs))
        return DeviceHandle(made.to(self.device), self.device)

    def build_loaded(
        self, name: str, args: Sequence[Any], state: dict[str, Tensor] | None, dtype: torch.dtype | None = None
    ) -> DeviceHandle:
        """As the subject's own, which may take a single question, and then moved to the device."""
        made = self.subject.build_loaded(name, _DeviceTransfer(self.device).to_device(tuple(args)), state, dtype)
        return DeviceHandle(made.to(self.device), self.device)

    def keep(self, values: Sequence[Any]) -> list[DeviceHandle]:
        """Keep the values with the subject, moved to the device."""
        transfer = _DeviceTransfer(self.device)
        return [DeviceHandle(one, self.device) for one in self.subject.keep(transfer.to_device(list(values)))]


class DeviceHandle:
    """An object whose parameters are on the device."""

    def __init__(self, handle: Any, device: str) -> None:
        self.handle, self.device = handle, device

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """Delegates to the handle."""
        shapes: dict[str, tuple[int, ...]] = self.handle.state_shapes()
        return shapes

    def load(self, state: dict[str, Tensor]) -> None:
        """Load a state dict strictly, moved to the device."""
        self.handle.load(_DeviceTransfer(self.device).to_device(state))

    def to(self, *how: Any) -> DeviceHandle:
        """Another dtype for the parameters."""
        self.handle.to(*how)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the object with these arguments on the device; the answer is on the CPU."""
        transfer = _DeviceTransfer(self.device, inputs=True)
        return transfer.answer(self.handle(*transfer.to_device(args), **transfer.to_device(kwargs)))

    def method(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The value of one of its methods."""
        transfer = _DeviceTransfer(self.device, inputs=True)
        return transfer.answer(self.handle.method(name, *transfer.to_device(args), **transfer.to_device(kwargs)))

    def vjp(
        self, method: str | None, args: Any, kwargs: dict[str, Any], cotangents: Any
    ) -> tuple[Any, list[Any], dict[str, Any]]:
        """As DeviceSubject.vjp, with the gradients of the parameters."""
        transfer = _DeviceTransfer(self.device, inputs=True)
        out, grads, named = self.handle.vjp(
            method, transfer.to_device(args), transfer.to_device(kwargs), transfer.to_device(cotangents)
        )
        return transfer.answer(out), transfer.to_cpu(grads), transfer.to_cpu(named)


class _DeviceTransfer:
    """Moves one call to the device and back. `inputs`: some input is on the device, so the answer must be on it too."""

    def __init__(self, device: str, inputs: bool = False) -> None:
        self.device, self.inputs = device, inputs
        self.copies: dict[int, Tensor] = {}  # one tensor passed twice arrives as one tensor

    def to_device(self, tree: Any) -> Any:
        """Tensors are copied to the device and handles unwrapped; the grader's functions still work on the CPU."""
        return tree_map(self._put, tree)

    def _put(self, leaf: Any) -> Any:
        if isinstance(leaf, Tensor):
            self.inputs = True
            return self.copies.setdefault(id(leaf), _moved(leaf, self.device))
        if isinstance(leaf, DeviceHandle):
            return leaf.handle
        return self._function(leaf) if callable(leaf) and not isinstance(leaf, (Handle, LocalHandle)) else leaf

    def _function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wraps a function of the grader, which runs on the CPU, so that its result is on the device."""
        return lambda *args, **kwargs: _DeviceTransfer(self.device).to_device(
            function(*self.to_cpu(args), **self.to_cpu(kwargs))
        )

    def to_cpu(self, tree: Any) -> Any:
        """Moves every tensor of the tree to the CPU from any device."""
        return tree_map(lambda leaf: _moved(leaf, "cpu") if isinstance(leaf, Tensor) else leaf, tree)

    def answer(self, tree: Any) -> Any:
        """Tensors on the CPU, with WrongDevice in place of one that should be on the device and is not."""
        return tree_map(self._answer, tree)

    def _answer(self, leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        stays = leaf.device.type == torch.device(self.device).type or not self.inputs
        return _moved(leaf, "cpu") if stays else WrongDevice(leaf.device.type, self.device)


def _moved(value: Tensor, device: str) -> Tensor:
    try:
        return value.to(device)
    except (RuntimeError, NotImplementedError, TypeError) as error:  # e.g. an unsupported dtype, or no memory left
        raise StudentError("device", f"{device} cannot hold this tensor: {error}") from error
