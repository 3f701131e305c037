"""Parts of torch that the course needs and pyborch lacks, built from pyborch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import SimpleNamespace
from typing import Any

import borch
import numpy

Tensor: Any = borch.Tensor


class UnsupportedInBrowser(AttributeError):
    """torch has this name, but neither pyborch nor this layer."""


FACTORIES = [
    "arange",
    "bernoulli",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "linspace",
    "ones",
    "ones_like",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "tensor",
    "as_tensor",
    "zeros",
    "zeros_like",
]


def complete_tensors() -> None:
    """Add operators and methods to the class of tensors; conversions to dtypes that are aliases here use the dtype
    behind them."""
    Tensor.double = Tensor.half = Tensor.bfloat16 = Tensor.float
    Tensor.int = Tensor.short = Tensor.char = Tensor.byte = Tensor.long
    Tensor.__invert__ = lambda self: borch.bitwise_not(self)
    Tensor.__abs__ = lambda self: self.abs()
    Tensor.__xor__ = lambda self, other: borch.bitwise_xor(self, _tensor(other))
    Tensor.__rpow__ = lambda self, base: borch.exp(self * float(numpy.log(base)))
    Tensor.__rfloordiv__ = lambda self, other: _tensor(other) // self
    Tensor.__rmod__ = lambda self, other: _tensor(other) % self
    Tensor.__rmatmul__ = lambda self, other: _tensor(other) @ self
    for name in ("and", "or", "xor"):
        setattr(Tensor, f"__i{name}__", _in_place(f"__{name}__"))
    borch.Size.numel = lambda self: int(numpy.prod(self))


def _tensor(value: Any) -> Any:
    return value if isinstance(value, Tensor) else borch.tensor(value)


def _in_place(operator: str) -> Callable[[Any, Any], Any]:
    def write(self: Any, other: Any) -> Any:
        """The tensor itself, with the operator's value in it."""
        return self.copy_(getattr(self, operator)(other))

    return write


class Init:
    """torch.nn.init, as far as layers use it."""

    @staticmethod
    def constant_(tensor: Any, value: float) -> Any:
        """The tensor, all of it `value`."""
        with borch.no_grad():
            return tensor.fill_(value)

    zeros_ = staticmethod(lambda tensor: Init.constant_(tensor, 0.0))
    ones_ = staticmethod(lambda tensor: Init.constant_(tensor, 1.0))

    @staticmethod
    def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, **how: Any) -> Any:
        """The tensor, drawn between `a` and `b`."""
        with borch.no_grad():
            return tensor.copy_(a + (b - a) * borch.rand(*tensor.shape, **how))

    @staticmethod
    def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, **how: Any) -> Any:
        """The tensor, drawn from a normal distribution."""
        with borch.no_grad():
            return tensor.copy_(mean + std * borch.randn(*tensor.shape, **how))

    @staticmethod
    def xavier_uniform_(tensor: Any, gain: float = 1.0) -> Any:
        """As torch's, of a matrix [out,in]."""
        reach = gain * (6.0 / (tensor.shape[0] + tensor.shape[1])) ** 0.5
        return Init.uniform_(tensor, -reach, reach)

    @staticmethod
    def kaiming_uniform_(tensor: Any, a: float = 0.0, **_: Any) -> Any:
        """As torch's for a leaky ReLU of slope `a`, of a matrix [out,in]."""
        reach = (6.0 / ((1 + a * a) * tensor.shape[1])) ** 0.5
        return Init.uniform_(tensor, -reach, reach)


class NoDispatch:
    """A placeholder for torch's modes of dispatch and of functions: it can be subclassed, but not entered."""

    def __enter__(self) -> None:
        raise UnsupportedInBrowser("recording operations is not supported by torch in the browser: use the lab")

    def __exit__(self, *error: Any) -> None: ...


class Placeholder:
    """A placeholder, so that a module that refers to it can be imported."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise UnsupportedInBrowser("this part of torch is not supported by torch in the browser: use the lab")


def complete_modules() -> None:
    """Forward hooks, clipping, and `skip_init`, which saves nothing here."""
    call = borch.nn.Module.__call__

    def hooked(self: Any, *args: Any, **kwargs: Any) -> Any:
        """The forward call, between its hooks."""
        before, after = (self.__dict__.get(name, {}) for name in ("_before", "_after"))
        for hook in list(before.values()):
            changed = hook(self, args)
            args = args if changed is None else changed if isinstance(changed, tuple) else (changed,)
        out = call(self, *args, **kwargs)
        for hook in list(after.values()):
            changed = hook(self, args, out)
            out = out if changed is None else changed
        return out

    borch.nn.Module.__call__ = hooked
    borch.nn.Module.register_forward_hook = lambda self, hook, **_: _Hook(self, "_after", hook)
    borch.nn.Module.register_forward_pre_hook = lambda self, hook, **_: _Hook(self, "_before", hook)
    borch._nn._no_device_dtype = setting  # one device, and types are aliases
    type(borch.nn.utils).skip_init = staticmethod(lambda kind, *args, device=None, **kwargs: kind(*args, **kwargs))
    type(borch.nn.utils).clip_grad_norm_ = staticmethod(_clip_grad_norm)
    type(borch.nn.utils).clip_grad_value_ = staticmethod(_clip_grad_value)


def _gradients(parameters: Any) -> list[Any]:
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [parameter.grad for parameter in given if parameter.grad is not None]


def _clip_grad_norm(parameters: Any, max_norm: float) -> Any:
    grads = _gradients(parameters)
    norm = sum(float((grad * grad).sum()) for grad in grads) ** 0.5
    for grad in grads:
        grad.mul_(min(1.0, max_norm / (norm + 1e-6)))
    return borch.tensor(norm)


def _clip_grad_value(parameters: Any, clip_value: float) -> None:
    for grad in _gradients(parameters):
        grad.clamp_(-clip_value, clip_value)


class _Hook:
    """The handle that removes a hook."""

    def __init__(self, module: Any, kind: str, hook: Callable[..., Any]) -> None:
        self.hooks: dict[Any, Any] = module.__dict__.setdefault(kind, {})
        self.hooks[self] = hook

    def remove(self) -> None:
        """Removes the hook."""
        self.hooks.pop(self, None)

    def __enter__(self) -> _Hook:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def factories() -> dict[str, Callable[..., Any]]:
    """pyborch's functions that create tensors, with torch's device arguments, of which only the CPU is accepted."""
    return {name: _placed(getattr(borch, name)) for name in FACTORIES}


def _placed(function: Callable[..., Any]) -> Callable[..., Any]:
    known = inspect.signature(function).parameters

    @wraps(function)
    def make(*args: Any, device: Any = "cpu", **kwargs: Any) -> Any:
        """The tensor, on the CPU. Raises RuntimeError for another device."""
        if device is not None and getattr(device, "type", str(device)) != "cpu":
            raise RuntimeError(f"device={device}: torch in the browser has only the CPU")
        return function(*args, **{name: value for name, value in kwargs.items() if name in known or value})

    return make


class Function:
    """torch.autograd.Function for one output tensor: `forward(ctx, …)` and `backward(ctx, gradient)`."""

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """The forward value, with the gradient from `backward`."""
        inputs = [arg for arg in args if isinstance(arg, Tensor)]
        ctx = SimpleNamespace(needs_input_grad=tuple(getattr(arg, "requires_grad", False) for arg in args))
        ctx.save_for_backward = lambda *saved: setattr(ctx, "saved_tensors", saved)
        ctx.mark_non_differentiable = ctx.set_materialize_grads = lambda *_: None
        with borch.no_grad():
            out = cls.forward(ctx, *(arg.detach() if isinstance(arg, Tensor) else arg for arg in args))
        if not isinstance(out, Tensor):
            raise UnsupportedInBrowser("several outputs of a Function are not supported in the browser: use the lab")

        def back(gradient: Any) -> tuple[Any, ...]:
            """NumPy arrays, one for each tensor among the arguments."""
            with borch.no_grad():
                given = cls.backward(ctx, borch.tensor(numpy.asarray(gradient)))
            given = given if isinstance(given, tuple) else (given,)
            pairs = [(one, arg) for one, arg in zip(given, args, strict=False) if isinstance(arg, Tensor)]
            return tuple(numpy.zeros_like(arg.data) if one is None else one.data for one, arg in pairs)

        return out._make(out.data, tuple(inputs), back, f"{cls.__name__}Backward")


def setting(*_: Any, **__: Any) -> None:
    """Accept a setting that has no effect here."""


class Cuda:
    """torch.cuda without a GPU."""

    is_available = staticmethod(lambda: False)
    device_count = staticmethod(lambda: 0)


class Compiler:
    """torch.compiler without a compiler."""

    is_compiling = staticmethod(lambda: False)
    disable = staticmethod(lambda function=None, **_: function)


class OneProcess:
    """torch.distributed with a single process."""

    is_available = staticmethod(lambda: False)
    is_initialized = staticmethod(lambda: False)


class Random:
    """torch.random, whose forked state is restored."""

    get_rng_state = staticmethod(borch.get_rng_state)
    set_rng_state = staticmethod(borch.set_rng_state)
    manual_seed = staticmethod(borch.manual_seed)

    @staticmethod
    @contextmanager
    def fork_rng(*_: Any, **__: Any) -> Iterator[None]:
        """As torch's, for the CPU."""
        before = borch.get_rng_state()
        try:
            yield
        finally:
            borch.set_rng_state(before)


class NoRecomputation:
    """Checkpointing without recomputation: the models in a browser are small enough."""

    CheckpointPolicy = create_selective_checkpoint_contexts = Placeholder

    @staticmethod
    def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool = False, **kwargs: Any) -> Any:
        """The function's value."""
        return function(*args, **kwargs)
