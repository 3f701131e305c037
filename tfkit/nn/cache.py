"""A key-value cache: decoding one more token need not process the earlier ones again."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import SequenceKey, register_pytree_node

from .mask_sharing import once_per_mask


class Cache:
    """A growing cache of keys and values per attention module, which models return as `out.cache`.

    Self-attention appends to a buffer that doubles when it is full, so n steps copy O(n) and not O(n²). The encoder
    output (memory) is projected once and kept. A cache belongs to one generation: calls advance it in place.
    """

    def __init__(self) -> None:
        self.self_attention: dict[Any, Any] = {}  # module -> _Buffer
        self.cross_attention: dict[Any, Any] = {}  # module -> (k, v)
        self.constants: dict[Any, Any] = {}  # module -> what is the same for all rows and steps

    @property
    def length(self) -> int:
        """The number of positions that it holds."""
        return max((buffer.length for buffer in self.self_attention.values()), default=0)

    @property
    def past(self) -> int | Tensor:
        """Where the next position is: an int; of a cache of fixed size a tensor, as a graph may not depend on it."""
        return self.length

    def width(self, new: int) -> int:
        """The number of keys that attention sees after `new` positions are added."""
        return self.length + new

    def extend(self, module: nn.Module, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Append k, v [B,H,t,D] of the new positions -> all keys, all values [B,H,K,D], views of the buffer."""
        if module not in self.self_attention:
            self.self_attention[module] = self.new_buffer()
        return self.self_attention[module].extend(k, v)

    def written_mask(self, new: int, device: torch.device | None = None) -> Tensor | None:
        """A mask of the keys that the `new` latest positions may see; None where the attention's causal flag
        suffices."""
        return None

    def apply_mask(
        self, mask: Tensor | None, causal: bool, new: int, device: torch.device | None = None
    ) -> tuple[Tensor | None, bool]:
        """mask bool [...,Q or 1,K] or None, over the positions so far, and the attention's causal flag -> the mask
        and the flag for the `new` latest queries over what `extend` returned."""
        return mask, causal

    def new_buffer(self) -> "_Buffer":
        """An empty buffer for one module's keys and values."""
        return _Buffer()

    def reorder(self, index: Tensor) -> None:
        """Keep the rows `index` int64 [N], in this order, of all tensors: the hypotheses that a beam keeps."""
        for buffer in self.self_attention.values():
            buffer.reorder(index)
        self.cross_attention = {
            m: (k.index_select(0, index), v.index_select(0, index)) for m, (k, v) in self.cross_attention.items()
        }

    def reorder_from(self, index: Tensor, prefix_length: int = 0) -> None:
        """`reorder` for rows that swap with rows of the same sentence and share the first `prefix_length` positions:
        only later positions are copied, and memory is left alone."""
        for buffer in self.self_attention.values():
            buffer.reorder_from(index, prefix_length)

    def crop(self, length: int) -> None:
        """Drop all but the first `length` positions, as after rejected draft tokens."""
        for buffer in self.self_attention.values():
            buffer.length = min(buffer.length, length)


class StaticCache(Cache):
    """A cache of fixed size: every step has the same shapes, as a compiler or a CUDA graph requires.

    Attention sees the whole buffer, and a mask hides the slots that are not written yet. The position is a
    tensor, advanced once in each forward pass; `length` is the same number on the host, which a compiled step cannot
    update: its caller calls `advance_length`. Raises ValueError when it is full (of a compiled step, `advance_length`
    does).
    """

    def __init__(self, max_length: int) -> None:
        super().__init__()
        self.max_length = max_length
        self.n_written: int | None = 0  # None: ask `end`
        self.end: Any = None  # int64 []: the next position
        self.slots: Any = None  # int64 [t]: the slots that this forward pass writes
        self.visible: Any = None  # bool [t,max_length]: the slots that its queries may attend to

    @property
    def length(self) -> int:
        """The number of positions that it holds, on the host."""
        if self.n_written is None:
            self.n_written = int(self.end)
        return self.n_written

    @property
    def past(self) -> int | Tensor:
        """int64 [], or the int 0 while it is empty"""
        return 0 if self.end is None else self.end

    def width(self, new: int) -> int:
        """Always the full size."""
        return self.max_length

    def advance_length(self, new: int) -> None:
        """Count `new` positions that a compiled step wrote. Raises ValueError if they did not fit."""
        self.check_capacity(self.length + new)
        self.n_written = self.length + new

    def check_capacity(self, positions: int) -> None:
        """Raises ValueError if the positions do not fit."""
        if positions > self.max_length:
            raise ValueError(
                f"the cache holds {self.max_length} positions, but {positions} are needed: create a larger one"
            )

    def extend(self, module: nn.Module, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """As in the parent, but returns the whole buffer. The first module of a forward pass advances the position."""
        if module not in self.self_attention:
            self.self_attention[module] = _Slots(self)
        if next(iter(self.self_attention)) is module:
            self.advance(k.size(2), k.device)
        return self.self_attention[module].write(k, v, self.slots)

    def advance(self, new: int, device: torch.device) -> None:
        """Advance to the next `new` positions."""
        if not torch.compiler.is_compiling():
            self.advance_length(new)
        start = torch.zeros((), dtype=torch.int64, device=device) if self.end is None else self.end
        self.slots, self.end = start + torch.arange(new, device=device), start + new
        self.visible = torch.arange(self.max_length, device=device) <= self.slots[:, None]

    def written_mask(self, new: int, device: torch.device | None = None) -> Tensor:
        """-> bool [new, max_length]; call it after `extend`."""
        return self.visible

    def apply_mask(
        self, mask: Tensor | None, causal: bool, new: int, device: torch.device | None = None
    ) -> tuple[Tensor | None, bool]:
        """-> bool [...,new,max_length], and False: the mask also hides the future, as the buffer includes unwritten
        slots"""
        visible = self.written_mask(new, device)
        if mask is not None:  # it ends where the text does
            room = (0, self.max_length - mask.size(-1))
            written = visible
            both = lambda: written & nn.functional.pad(mask, room)
            visible = once_per_mask(written, "and padding", both, beside=mask)
        return visible, False

    def tensors(self) -> list[Tensor]:
        """All tensors that stay at their addresses from step to step: none but the position does not."""
        held = [held for buffer in self.self_attention.values() for held in (buffer.k, buffer.v)]
        return [*held, *(held for pair in self.cross_attention.values() for held in pair), *self.constants.values()]

    def row_tensors(self) -> list[Tensor]:
        """Those with a row for each text, besides keys and values."""
        return []

    def crop(self, length: int) -> None:
        """Later slots are hidden until they are overwritten."""
        if length < self.length:
            self.n_written, self.end = length, torch.full_like(self.end, length) if length else None


class LeftPaddedCache(StaticCache):
    """A static cache that masks the padding of the prompts itself: the model needs no mask."""

    def __init__(self, capacity: int, non_padding: Tensor) -> None:
        super().__init__(capacity)
        self.non_padding = non_padding  # bool [B,capacity]

    def written_mask(self, new: int, device: torch.device | None = None) -> Tensor:
        """bool [B,1,new,capacity]: a mask for each prompt, as their padding differs"""
        mask = super().written_mask(new, device)
        return mask & self.non_padding[:, None, None]

    def row_tensors(self) -> list[Tensor]:
        """The masks of the prompts."""
        return [self.non_padding]

    def reorder(self, index: Tensor) -> None:
        """The masks of the prompts follow their rows."""
        super().reorder(index)
        self.non_padding = self.non_padding[index]


class _Buffer:
    """A growing buffer for keys and values, [B,H,room,D] each."""

    def __init__(self) -> None:
        self.length = 0
        self.k: Any = None
        self.v: Any = None

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """k, v [B,H,t,D] -> views [B,H,K,D]. Raises RuntimeError if gradients are on, ValueError for another batch
        size."""
        self.check(k, v)
        end = self.length + k.size(2)
        self.reserve(k, v, end)
        self.k[:, :, self.length : end], self.v[:, :, self.length : end] = k, v
        self.length = end
        return self.k[:, :, :end], self.v[:, :, :end]

    def check(self, k: Tensor, v: Tensor) -> None:
        """Raises RuntimeError if gradients are on, ValueError for another batch size."""
        if torch.is_grad_enabled() and (k.requires_grad or v.requires_grad):
            raise RuntimeError("a cache writes in place and cannot be trained through: decode under torch.no_grad()")
        if self.k is not None and len(k) != len(self.k):
            raise ValueError(
                f"the cache holds {len(self.k)} rows, the input has {len(k)}: start each generation with a new cache"
            )

    def reserve(self, k: Tensor, v: Tensor, needed: int) -> None:
        """Doubles the buffer."""
        if self.k is not None and needed <= self.k.size(2):
            return
        capacity = max(16, 2 * self.length, needed)
        self.k, self.v = (self.copy_to(old, new, capacity) for old, new in ((self.k, k), (self.v, v)))

    def copy_to(self, old: Tensor | None, new: Tensor, capacity: int) -> Tensor:
        """Copies `old` [B,H,·,D] into a larger buffer, with the dtype and device of `new`."""
        # zeros, not empty: a masked key still enters a product, and 0 * NaN is NaN
        buffer = new.new_zeros(new.size(0), new.size(1), capacity, new.size(3))
        if old is not None:
            buffer[:, :, : self.length] = old[:, :, : self.length]
        return buffer

    def reorder(self, index: Tensor) -> None:
        """index int64 [N], where N may differ from the batch size: all written positions are copied."""
        for name in ("k", "v"):
            old = getattr(self, name)
            new = old.new_zeros(len(index), *old.shape[1:])
            new[:, :, : self.length] = old[:, :, : self.length].index_select(0, index)
            setattr(self, name, new)

    def reorder_from(self, index: Tensor, prefix_length: int) -> None:
        """index int64 [B]; copies in place, and only the positions from `prefix_length` on."""
        for kept in (self.k[:, :, prefix_length : self.length], self.v[:, :, prefix_length : self.length]):
            kept.copy_(kept.index_select(0, index))


class _Slots(_Buffer):
    """A buffer of fixed size. The cache holds the position, so that no Python number changes from step to step."""

    def __init__(self, cache: StaticCache) -> None:
        self.cache = cache
        self.k = self.v = None

    @property
    def length(self) -> int:  # type: ignore[override]
        """As the cache's."""
        return self.cache.length

    def write(self, k: Tensor, v: Tensor, slots: Tensor) -> tuple[Tensor, Tensor]:
        """k, v [B,H,t,D] into `slots` int64 [t] -> all keys, all values [B,H,room,D]"""
        self.check(k, v)
        if self.k is None:
            self.k, self.v = (new.new_zeros(*new.shape[:2], self.cache.max_length, new.size(3)) for new in (k, v))
        self.k.index_copy_(2, slots, k.to(self.k.dtype))
        self.v.index_copy_(2, slots, v.to(self.v.dtype))
        return self.k, self.v


def _children(cache: StaticCache) -> tuple[list[Any], tuple[Any, ...]]:
    """-> the tensors of a StaticCache, in lists by what they are, and what stays the same from step to step"""
    self_attention = [[buffer.k, buffer.v] for buffer in cache.self_attention.values()]
    parts = [
        self_attention,
        [list(pair) for pair in cache.cross_attention.values()],
        list(cache.constants.values()),
        cache.end,
    ]
    return parts, (
        cache.max_length,
        *(tuple(table) for table in (cache.self_attention, cache.cross_attention, cache.constants)),
    )


def _from_children(parts: Any, context: Any) -> StaticCache:
    """The way back. While a graph is made its position has no value: it is read when somebody asks for it."""
    (self_attention, memory, kept, end), (max_length, *owners) = parts, context
    cache = StaticCache(max_length)
    for module, (k, v) in zip(owners[0], self_attention, strict=True):
        cache.self_attention[module] = slots = _Slots(cache)
        slots.k, slots.v = k, v
    cache.cross_attention = {module: tuple(pair) for module, pair in zip(owners[1], memory, strict=True)}
    cache.constants, cache.end = dict(zip(owners[2], kept, strict=True)), end
    cache.n_written = None if isinstance(end, torch.Tensor) else 0
    return cache


# torch.export takes a decoding step with its cache as a tree of tensors, and gives the cache back in the result
register_pytree_node(
    StaticCache,
    _children,
    _from_children,
    flatten_with_keys_fn=lambda cache: (
        [(SequenceKey(index), part) for index, part in enumerate(_children(cache)[0])],
        _children(cache)[1],
    ),
)
