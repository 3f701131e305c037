"""Weights in int8, for inference: each row of a matrix as small integers and a scale (Dettmers et al. 2022,
arXiv:2208.07339, without its columns of outliers).

A step of decoding reads every weight once and computes little with it, so a quarter of the bytes is what makes it fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from .fast import dequantize_rows, quantize_rows

LINEAR = F.linear  # as `Int8Weight.__torch_function__` receives it
FEW_ROWS = 16  # up to this many, reading the weights takes longer than the products
AT_ONCE = 2**20  # weights that are converted to floats at a time, so that they stay in the processor's cache
SMALLEST = 2**16  # smaller matrices are left as they are: routers of experts, heads with a few classes

aten = torch.ops.aten
ModelT = TypeVar("ModelT", bound=nn.Module)


class Int8Weight(torch.Tensor):
    """A matrix [O,I] that is stored as int8 [O,I] with a scale per row and behaves like a float tensor.

    `F.linear` and `F.embedding` read the int8 numbers; every other operation gets floats. It has no gradient, but what
    it is multiplied by may have one.
    """

    q: Tensor  # int8 [O,I]
    scale: Tensor  # float32 or wider [O]

    @staticmethod
    def __new__(cls, q: Tensor, scale: Tensor, dtype: torch.dtype) -> Int8Weight:
        made: Int8Weight = torch.Tensor._make_wrapper_subclass(cls, q.shape, dtype=dtype, device=q.device)
        return made

    def __init__(self, q: Tensor, scale: Tensor, dtype: torch.dtype) -> None:
        """dtype: of the floats that it looks like"""
        self.q, self.scale = q, scale

    def __repr__(self) -> str:  # type: ignore[override]
        return f"Int8Weight({list(self.shape)}, dtype={self.dtype}, device={str(self.device)!r})"

    def floats(self) -> Tensor:
        """-> [O,I] in its dtype"""
        return dequantize_rows(self.q, self.scale).to(self.dtype)

    def map_parts(self, change: Callable[[Tensor], Tensor], dtype: torch.dtype | None = None) -> Int8Weight:
        """The same with `change` applied to both parts, or with another dtype."""
        return Int8Weight(change(self.q), change(self.scale), dtype or self.dtype)

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        with torch._C.DisableTorchFunctionSubclass():
            if func is LINEAR and not kwargs and isinstance(args[1], cls):
                return int8_linear(args[0], args[1].q, args[1].scale, *args[2:])
            if func is F.embedding and isinstance(args[1], cls):
                return dequantize_rows(args[1].q[args[0]], args[1].scale[args[0]]).to(args[1].dtype)
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func in (aten.detach.default, aten.clone.default, aten.alias.default):
            return args[0].map_parts(lambda part: func(part, *args[1:], **(kwargs or {})))
        if func is aten._to_copy.default:
            given = kwargs or {}
            return args[0].map_parts(lambda part: part.to(given.get("device", part.device)), given.get("dtype"))
        args, kwargs = tree_map_only(cls, cls.floats, (args, kwargs or {}))
        return func(*args, **kwargs)

    def __tensor_flatten__(self) -> tuple[list[str], torch.dtype]:
        return ["q", "scale"], self.dtype

    @staticmethod
    def __tensor_unflatten__(parts: Mapping[str, Tensor], dtype: torch.dtype, _size: Any, _stride: Any) -> Int8Weight:
        return Int8Weight(parts["q"], parts["scale"], dtype)


def int8_linear(x: Tensor, q: Tensor, scale: Tensor, bias: Tensor | None = None) -> Tensor:
    """x [...,I], q int8 [O,I], scale [O], bias [O] or None -> [...,O] in x's dtype: `F.linear` with the weight that q
    and scale stand for.

    On a CPU, for a few rows, x and the result are rounded to bfloat16 on the way, as the fused kernel requires. It
    reads beyond the end of rows whose length is not a multiple of 32.
    """
    flat = x.flatten(0, -2) if x.dim() > 1 else x.unsqueeze(0)
    wanted = torch.is_grad_enabled() and x.requires_grad
    if x.device.type == "cpu" and 0 < len(flat) <= FEW_ROWS and q.size(1) % 32 == 0 and not wanted:
        out = torch._weight_int8pack_mm(flat.bfloat16(), q, scale.bfloat16()).to(x.dtype)
        out = out if bias is None else out + bias
    else:
        rows = max(1, AT_ONCE // q.size(1))
        parts = [F.linear(flat, part.to(x.dtype)) for part in q.split(rows)]
        out = (parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)) * scale.to(x.dtype)
        out = out if bias is None else out + bias
    return out.view(*x.shape[:-1], len(q))


def quantize(model: ModelT, smallest: int = SMALLEST) -> ModelT:
    """Rounds a model's matrices to int8, in place: the weights of its linear layers and the table of its words. Those
    with fewer than `smallest` numbers stay, as do norms, biases and positions. Matrices that modules share stay shared.
    -> the model, for inference: rounded weights are not trained
    """
    done: dict[int, nn.Parameter] = {}
    words = getattr(getattr(model, "config", None), "vocab_size", None)
    modules: Iterable[Any] = model.modules()
    for module in modules:
        table = isinstance(module, nn.Embedding) and module.num_embeddings == words and module.max_norm is None
        if not (table or isinstance(module, nn.Linear)) or module.weight.numel() < smallest:
            continue
        weight = module.weight
        if not isinstance(weight, Int8Weight):
            if id(weight) not in done:
                wide = weight.detach().to(torch.promote_types(weight.dtype, torch.float32)).contiguous()
                rounded = Int8Weight(*quantize_rows(wide), weight.dtype)
                done[id(weight)] = nn.Parameter(rounded, requires_grad=False)
            module.weight = done[id(weight)]
    return model
