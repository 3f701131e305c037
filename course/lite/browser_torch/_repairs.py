"""Repairs of pyborch 1.14.1 where it differs from torch in ways that affect the course's right answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from functools import wraps
from typing import Any

import borch
import numpy

Tensor: Any = borch.Tensor
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def repair_tensors() -> None:
    """Replace pyborch's methods by the repaired ones."""
    Tensor.mean = _mean(Tensor.mean)
    Tensor.unflatten = unflatten
    Tensor.__setitem__ = _writes(Tensor.__setitem__)
    Tensor.view = _view(Tensor.view)
    Tensor._inplace = _sums(Tensor._inplace)
    Tensor.softmax, Tensor.logsumexp = _of_nothing(Tensor.softmax), logsumexp
    Tensor.__and__ = lambda self, other: borch.bitwise_and(self, _tensor(other))
    Tensor.__or__ = lambda self, other: borch.bitwise_or(self, _tensor(other))
    Tensor.gather, Tensor.diagonal, Tensor.index_put = gather, diagonal, index_put


def repair_optimizers() -> None:
    """An optimizer's state can be read and set by parameter."""
    borch.optim.Optimizer.state = property(
        lambda self: self.__dict__["state"],
        lambda self, states: self.__dict__.update(state=_States(states)),
    )


class _States(dict[Any, Any]):
    """An optimizer's state: by parameter and in tensors, as in torch, and by `id` and in arrays for pyborch itself."""

    def __getitem__(self, key: Any) -> Any:
        return _State(self.setdefault(id(key), {})) if isinstance(key, Tensor) else super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, Tensor):
            key, value = id(key), {name: _array(one) for name, one in value.items()}
        super().__setitem__(key, value)


class _State(MutableMapping[str, Any]):
    """The state of one parameter, as tensors that share their memory with pyborch's arrays."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self.arrays = arrays

    def __getitem__(self, name: str) -> Any:
        return Tensor(numpy.asarray(self.arrays[name], dtype=numpy.float32))

    def __setitem__(self, name: str, value: Any) -> None:
        self.arrays[name] = _array(value)

    def __delitem__(self, name: str) -> None:
        del self.arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)


def _tensor(value: Any) -> Any:
    return value if isinstance(value, Tensor) else borch.tensor(value)


def _of_nothing(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def answer(self: Any, *args: Any, **kwargs: Any) -> Any:
        """An empty tensor gives an empty result."""
        return function(self, *args, **kwargs) if self.numel() else self * 1.0

    return answer


def logsumexp(self: Any, dim: Any, keepdim: bool = False, **_: Any) -> Any:
    """As in torch: -inf if all entries are."""
    most = self.detach().amax(dim, keepdim=True)
    most = most.masked_fill(borch.bitwise_not(most.isfinite()), 0.0)
    total = (self - most).exp().sum(dim, keepdim=True).log() + most
    return total if keepdim else total.squeeze(dim)


def kl_div(log_p: Any, target: Any, *args: Any, log_target: bool = False, **kwargs: Any) -> Any:
    """As in torch: the loss is 0 if the target is 0."""
    if log_target:
        return borch.nn.functional.kl_div(log_p, target, *args, log_target=True, **kwargs)
    none = target == 0
    return borch.nn.functional.kl_div(
        log_p.masked_fill(none, 0.0), target.masked_fill(none, 1.0), *args, log_target=False, **kwargs
    )


def _sums(plain: Callable[..., Any]) -> Callable[..., Any]:
    def write(self: Any, function: Callable[[], Any], what: str) -> Any:
        """Gradients flow through in-place sums; pyborch refuses operations for which it would have to keep a copy."""
        if what not in ("add_", "sub_") or not (borch.is_grad_enabled() and self.requires_grad and self._parents):
            return plain(self, function, what)
        out, before = function(), self._make(self.data, (self,), None)
        before._parents, before._backward, before.requires_grad = self._parents, self._backward, True
        self.data[...] = out.data
        self._parents = tuple(before if parent is self else parent for parent in out._parents)
        self._backward = out._backward
        return self

    return write


def _mean(one_axis: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(one_axis)
    def mean(self: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        """The mean over one or several axes."""
        if not isinstance(dim, tuple | list):
            return one_axis(self, dim, keepdim, dtype)
        return self.sum(tuple(dim), keepdim, dtype) / int(numpy.prod([self.shape[axis] for axis in dim]))

    return mean


def unflatten(self: Any, dim: int, sizes: Any) -> Any:
    """The axis `dim`, counted from either end, as axes of these sizes, of which one may be -1."""
    dim %= self.ndim
    return self.reshape(*self.shape[:dim], *sizes, *self.shape[dim + 1 :])


def _writes(plain: Callable[..., None]) -> Callable[..., None]:
    def write(self: Any, place: Any, value: Any) -> None:
        """Gradients flow into the written values and into the unchanged ones."""
        follows = borch.is_grad_enabled() and (self._parents or getattr(value, "requires_grad", False))
        if not follows or (self.requires_grad and not self._parents):  # torch refuses a leaf with gradients
            plain(self, place, value)
            return
        before = self._make(self.data, (self,), None)
        before._parents, before._backward, before.requires_grad = self._parents, self._backward, self.requires_grad
        with borch.no_grad():
            learns, self.requires_grad = self.requires_grad, False
            plain(self, place, value)
            self.requires_grad = learns
        key = tuple(_array(one) for one in place) if isinstance(place, tuple) else _array(place)
        given = value if isinstance(value, Tensor) else borch.tensor(value)

        def back(gradient: Any) -> tuple[Any, Any]:
            """The gradients of the old values and of the written ones."""
            around = numpy.array(gradient)
            part = numpy.array(around[key])
            around[key] = 0
            return around, part

        _repoint(given, self, before)
        self._parents, self._backward, self.requires_grad = (before, given), back, True

    return write


def _repoint(node: Any, old: Any, new: Any) -> None:
    """Redirects earlier results of the tensor to its old version, so that the graph has no cycle."""
    todo, seen = [node], set()
    while todo:
        one = todo.pop()
        if id(one) in seen or one is new:
            continue
        seen.add(id(one))
        one._parents = tuple(new if parent is old else parent for parent in one._parents)
        todo += one._parents


def _array(value: Any) -> Any:
    return value.data if isinstance(value, Tensor) else value


def einsum(equation: str, *operands: Any) -> Any:
    """As in torch; `...` is replaced by letters, since pyborch has no gradient through it."""
    operands = operands[0] if len(operands) == 1 and isinstance(operands[0], list | tuple) else operands
    if "..." not in equation:
        return borch.einsum(equation, *operands)
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    free = [letter for letter in LETTERS if letter not in equation]
    counts = [
        one.ndim - len(term.replace("...", "")) if "..." in term else 0
        for term, one in zip(terms, operands, strict=True)
    ]
    most = max(counts)
    named = ["".join(free[most - count : most]) for count in counts]
    if not arrow:
        once = sorted(c for c in set(left) - set(".,") if left.count(c) == 1)
        right = f"...{''.join(once)}"
    lengths: dict[str, int] = {}
    for term, letters, one in zip(terms, named, operands, strict=True):
        at = term.index("...") if "..." in term else 0
        for index, letter in enumerate(letters):
            lengths[letter] = max(lengths.get(letter, 1), one.shape[at + index])
    whole = []
    for term, letters, one in zip(terms, named, operands, strict=True):
        at = term.index("...") if "..." in term else 0
        shape = list(one.shape)
        shape[at : at + len(letters)] = [lengths[letter] for letter in letters]
        whole.append(one if list(one.shape) == shape else one.expand(*shape))
    spelt = ",".join(term.replace("...", letters) for term, letters in zip(terms, named, strict=True))
    return borch.einsum(f"{spelt}->{right.replace('...', ''.join(free[:most]))}", *whole)


def cross_entropy(logits: Any, target: Any, *args: Any, reduction: str = "mean", **kwargs: Any) -> Any:
    """As in torch; logits [B,C,...] with the classes on the second axis too."""
    plain = borch.nn.functional.cross_entropy
    if logits.ndim < 3:
        return plain(logits, target, *args, reduction=reduction, **kwargs)
    kinds, shape = logits.shape[1], logits.shape[:1] + logits.shape[2:]
    rows = logits.movedim(1, -1).reshape(-1, kinds)
    wanted = target.reshape(-1) if target.ndim < logits.ndim else target.movedim(1, -1).reshape(-1, kinds)
    losses = plain(rows, wanted, *args, reduction=reduction, **kwargs)
    return losses.reshape(*shape) if reduction == "none" else losses


def _view(strict: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(strict)
    def view(self: Any, *shape: Any) -> Any:
        """A view wherever no copy is needed, even if the memory is not contiguous."""
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], list | tuple) else shape
        try:
            numpy.reshape(self.data, sizes, copy=False)
        except (TypeError, ValueError):
            return strict(self, *shape)
        return self.reshape(*sizes)

    return view


def gather(self: Any, dim: int, index: Any, **_: Any) -> Any:
    """As in torch; an entry that is taken twice gets both gradients."""
    places = list(numpy.indices(index.shape, sparse=True))
    places[dim] = index.data
    return self[tuple(place.astype(numpy.int64) for place in places)]


def diagonal(self: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """As in torch: it can be written to, and its gradient goes to the diagonal of each matrix."""
    shape = self.data.shape

    def entries(array: Any) -> Any:
        """The diagonal of a NumPy array, as a writable view."""
        found = numpy.diagonal(array, offset, dim1, dim2)
        found.flags.writeable = True
        return found

    def back(gradient: Any) -> tuple[Any]:
        """The gradient: zeros off the diagonal."""
        whole = numpy.zeros(shape, dtype=numpy.float32)
        entries(whole)[...] = gradient
        return (whole,)

    return self._make(entries(self.data), (self,), back, "DiagonalBackward0")


def index_put(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """As in torch; masks among the indices too."""
    if accumulate:
        return borch.index_put(self, indices, values, accumulate)
    out = self.clone()
    out[tuple(indices)] = values
    return out


def search_rows(sorted_sequence: Any, values: Any, **how: Any) -> Any:
    """As in torch; row by row if there are several."""
    if getattr(sorted_sequence, "ndim", 1) < 2:
        return borch.searchsorted(sorted_sequence, values, **how)
    rows, wanted = sorted_sequence.reshape(-1, sorted_sequence.shape[-1]), values.reshape(-1, values.shape[-1])
    found = [borch.searchsorted(row, want, **how) for row, want in zip(rows, wanted, strict=True)]
    return borch.stack(found).reshape(*values.shape)


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """As in torch: a query that may attend to no key gives zeros."""
    if enable_gqa:
        shared = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(shared, -3), value.repeat_interleave(shared, -3)
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        attn_mask = borch.ones(query.shape[-2], key.shape[-2]).tril().bool()
    if attn_mask is not None:
        seen = attn_mask if attn_mask.dtype == borch.bool else attn_mask > -numpy.inf
        scores = (
            scores if attn_mask.dtype == borch.bool else scores + attn_mask.masked_fill(borch.bitwise_not(seen), 0.0)
        )
        empty = borch.bitwise_not(seen.any(-1, keepdim=True))
        scores = scores.masked_fill(borch.bitwise_not(borch.logical_or(seen, empty)), -numpy.inf)
        weights = scores.softmax(-1).masked_fill(empty, 0.0)
    else:
        weights = scores.softmax(-1)
    return borch.nn.functional.dropout(weights, dropout_p, training=bool(dropout_p)) @ value
