"""Products by oneDNN on a CPU: where it is used though PyTorch would not, and left out though PyTorch would.

PyTorch multiplies float32 matrices by MKL, which on some processors (measured: an AMD EPYC with AVX-512) takes twice as
long as oneDNN. PyTorch has oneDNN too, but uses it for bfloat16 and in compiled graphs only. Within `onednn_products`
the linear layers of any model, and their gradients, are computed by it. Results are rounded differently.

Of bfloat16 it is the other way round: PyTorch asks oneDNN, which for a single row takes twice as long as PyTorch's own
product, because it lays the matrix out anew each time. Within `without_onednn` PyTorch multiplies itself. `generate`
enters it in each step of a single row in bfloat16 on a CPU that is not compiled. The switch is one for all threads of
the process, so what others compute meanwhile is rounded differently (`_Switch`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

LINEAR = F.linear  # as `OneDNNMode.__torch_function__` receives it
MATMUL = (torch.Tensor.matmul, torch.Tensor.__matmul__, torch.matmul)
ADD_PRODUCT = torch.Tensor.addmm_
FEWEST_ROWS = 4  # with fewer, reading the weights takes longer than the products


def is_available() -> bool:
    """Whether this build of PyTorch has oneDNN's products."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def product(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
    """a [M,K], b [K,N], bias [N] or None, float32 on a CPU -> a b + bias [M,N]"""
    found: Tensor = torch.ops.mkldnn._linear_pointwise(a, b.t(), bias, "none", [], "")
    return found


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """x [N,I], weight [O,I], bias [O] or None -> [N,O]"""
        ctx.save_for_backward(x, weight)
        return product(x, weight.t(), bias)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """grad [N,O] -> the gradients of x, weight and bias"""
        x, weight = ctx.saved_tensors
        wanted = ctx.needs_input_grad
        times = torch.matmul if torch.is_grad_enabled() else product  # `product` has no derivative
        return (
            times(grad, weight) if wanted[0] else None,
            times(grad.t(), x) if wanted[1] else None,
            grad.sum(0) if wanted[2] else None,
        )


class OneDNNMode(TorchFunctionMode):
    """Sends linear layers, and products of two matrices without gradients, to oneDNN."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is LINEAR and not kwargs and can_multiply(args[0], args[1]):
            x, weight, bias = (*args, None)[:3]
            return _Linear.apply(x.flatten(0, -2), weight, bias).view(*x.shape[:-1], -1)
        if func in MATMUL and not kwargs and can_multiply(*args) and args[0].dim() == 2 and not needs_gradient(*args):
            return product(*args)
        beta = (kwargs or {}).get("beta", 1)
        if (
            func is ADD_PRODUCT
            and not {*(kwargs or {})} - {"beta"}
            and can_multiply(*args[1:])
            and not needs_gradient(*args)
        ):
            found = product(*args[1:])
            return args[0].copy_(found) if beta == 0 else args[0].mul_(beta).add_(found)
        return func(*args, **(kwargs or {}))


def can_multiply(x: Any, matrix: Any) -> bool:
    """Whether oneDNN multiplies x [...,K] by a matrix: plain float32 tensors on a CPU, of several rows."""
    plain = all(type(t) in (Tensor, torch.nn.Parameter) and t.dtype == torch.float32 for t in (x, matrix))
    return (
        plain and x.device.type == "cpu" and x.dim() > 1 and matrix.dim() == 2
        and x.numel() >= FEWEST_ROWS * x.size(-1) > 0 and matrix.numel() > 0
        and not torch.is_autocast_enabled("cpu") and not torch.compiler.is_compiling()
    )  # fmt: skip


def needs_gradient(*tensors: Tensor) -> bool:
    """Whether autograd records what is done with one of the tensors."""
    return torch.is_grad_enabled() and any(t.requires_grad for t in tensors)


@contextmanager
def onednn_products() -> Iterator[None]:
    """A context in which float32 linear layers on a CPU, and their gradients, are computed by oneDNN. Raises
    RuntimeError if this build of PyTorch lacks it."""
    if not is_available():
        raise RuntimeError("this build of PyTorch has no oneDNN: leave out onednn_products, or --onednn")
    with OneDNNMode():
        yield


class _Switch:
    """PyTorch's switch for oneDNN, which is one for all threads: it is off while any of them wants it to be.

    So what other threads compute on a CPU meanwhile is not computed by oneDNN either: it is rounded differently, and
    products of many rows in bfloat16 take longer. Who switches it on in the meantime is obeyed from then on; who
    switches it off then cannot be told from this class, and finds it as it was before.
    """

    def __init__(self) -> None:
        self.lock, self.users, self.was = threading.Lock(), 0, True

    def enter(self) -> None:
        """One more that wants it off."""
        with self.lock:
            self.users += 1
            if self.users == 1:
                self.was = bool(torch._C._get_mkldnn_enabled())
                torch._C._set_mkldnn_enabled(False)

    def leave(self) -> None:
        """One fewer: after the last it is as it was, unless somebody else has switched it on."""
        with self.lock:
            self.users -= 1
            if self.users == 0 and not torch._C._get_mkldnn_enabled():
                torch._C._set_mkldnn_enabled(self.was)


_switch = _Switch()


@contextmanager
def without_onednn() -> Iterator[None]:
    """A context in which PyTorch multiplies bfloat16 matrices on a CPU itself, and uses oneDNN for nothing else either,
    in all threads (`_Switch`). Results are rounded differently."""
    _switch.enter()
    try:
        yield
    finally:
        _switch.leave()


def decodes_faster_without_onednn(model: nn.Module) -> bool:
    """Whether a single row goes through this model faster within `without_onednn`: its matrices are bfloat16 on a CPU
    and lie by rows, as `from_pretrained` lays them out. By columns PyTorch's own product takes many times as long."""
    matrices = [weight for weight in model.parameters() if weight.dim() == 2]
    return bool(matrices) and all(
        type(weight) is nn.Parameter and weight.dtype == torch.bfloat16 and weight.device.type == "cpu"
        and weight.stride(1) == 1
        for weight in matrices
    )  # fmt: skip
