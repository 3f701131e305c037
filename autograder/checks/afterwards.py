"""How torch behaves after a call. This source runs in the student's box and in the grader, and the results are
compared: a box's report about itself is never trusted, but its later computations show what a call has changed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy
import torch

NAMES = ["given_kept", "given_seed", "given_after"]
DEFAULTS = {  # of `settings`, in a process that has changed nothing
    "default dtype": "torch.float32",
    "default device": "cpu",
    "grad mode": True,
    "deterministic algorithms": False,
    "anomaly detection": False,
}


def given_kept(values: list[Any]) -> list[Any]:
    """Reads values back that are kept in the box."""
    return values


def given_seed(number: int) -> None:
    """Seed all three global generators."""
    torch.manual_seed(number)
    random.seed(number)
    numpy.random.seed(number)


def given_after(matrix: torch.Tensor) -> dict[str, dict[str, Any]]:
    """All that a call may have changed. The random numbers come first, as what follows may use some."""
    return {"draw": _drawn(), "settings": settings(), "library": library(matrix)}


def _drawn() -> dict[str, Any]:
    """The next numbers of torch's, Python's and NumPy's global generators."""
    drawn = torch.rand(4, dtype=torch.float64, device="cpu").tolist()
    return {"torch": drawn, "Python": [random.random() for _ in range(4)], "NumPy": numpy.random.rand(4).tolist()}


def settings() -> dict[str, Any]:
    """Effects of torch's process-wide settings, under names that a student knows."""
    return {
        "default dtype": str((torch.ones(1) / 3).dtype),
        "default device": torch.ones(1).device.type,
        "grad mode": (torch.ones(1, device="cpu", requires_grad=True) * 2).requires_grad,
        "deterministic algorithms": _is_refused(_write_in_place),
        "anomaly detection": _is_refused(_undefined_gradient),
    }


def _is_refused(action: Callable[[], None]) -> bool:
    try:
        action()
    except RuntimeError:
        return True
    return False


def _write_in_place() -> None:
    # torch refuses this if only deterministic algorithms are allowed
    torch.zeros(2, device="cpu").put_(torch.zeros(1, dtype=torch.long, device="cpu"), torch.ones(1, device="cpu"))


def _undefined_gradient() -> None:
    # 0 times the infinite slope of a square root: with anomaly detection torch refuses the NaN in the gradient
    with torch.enable_grad():
        x = torch.zeros(1, device="cpu", requires_grad=True)
        (torch.sqrt(x) * 0).sum().backward()


def library(x: torch.Tensor) -> dict[str, Any]:
    """The results of torch's most common functions for a float matrix [N,N]; a replaced function gives others."""
    F = torch.nn.functional
    upper = torch.triu(torch.ones_like(x), 1).bool()
    return {
        "matmul": [torch.matmul(x, x), x @ x.transpose(0, 1), torch.einsum("ij,kj->ik", x, x), x.mm(x)],
        "softmax": [torch.softmax(x, -1), F.softmax(x, -1), x.softmax(-1), F.log_softmax(x, -1)],
        "masked_fill": [x.masked_fill(upper, 0.0), torch.where(upper, x, 0.0), torch.tril(x)],
        "pointwise": [torch.exp(x), torch.tanh(x), torch.sigmoid(x), F.relu(x), F.gelu(x), x.abs().sqrt()],
        "reductions": [x.sum(-1), x.mean(0), x.max(-1).values, x.cumsum(0), torch.logsumexp(x, -1)],
        "shapes": [torch.cat([x, x]), torch.stack([x, x]), x.reshape(-1), x.view(-1, 1), x.unsqueeze(0)],
        "layers": [F.linear(x, x), F.layer_norm(x, x.shape[-1:]), F.embedding(torch.ones_like(x[0]).long(), x)],
    }
