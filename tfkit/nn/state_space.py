"""A state space model in place of attention (Dao and Gu 2024, arXiv:2405.21060): the past is summarised in a matrix of
fixed size, which decays at each token by a factor that depends on the token, before the token is added."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .cache import Cache, LeftPaddedCache, StaticCache


def state_space_scan(
    x: Tensor, log_decay: Tensor, b: Tensor, c: Tensor, state: Tensor, chunk: int = 256
) -> tuple[Tensor, Tensor]:
    """state_t = exp(log_decay_t) · state_{t-1} + x_t b_tᵀ, out_t = state_t c_t, for each head.

    Within `chunk` tokens it is computed in parallel, as attention without a softmax, whose scores c · b are multiplied
    by the decay between the two tokens; chunks pass on only the state, so the cost grows linearly with L.

    x [B,L,H,P], log_decay [B,L,H], 0 or less, b and c [B,L,H,N], state [B,H,P,N] -> (out [B,L,H,P], the last state)
    """
    out = []
    # `split`, because the gradient of each slice would be as large as the whole text
    chunks = (tensor.split(chunk, dim=1) for tensor in (x, log_decay, b, c))
    for x_part, decay_part, b_part, c_part in zip(*chunks, strict=True):
        y, state = _chunk(x_part, decay_part, b_part, c_part, state)
        out.append(y)
    return torch.cat(out, dim=1), state


def _chunk(x: Tensor, log_decay: Tensor, b: Tensor, c: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    total = log_decay.cumsum(1)  # [B,L,H], from the start of the chunk
    by_head = total.transpose(1, 2)  # [B,H,L]
    later = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).triu(1)
    between = (by_head[..., None] - by_head[:, :, None]).masked_fill_(later, float("-inf"))  # [B,H,L,L]
    scores = torch.einsum("blhn,bshn->bhls", c, b) * between.exp()
    y = torch.einsum("bhls,bshp->blhp", scores, x)
    y = y + torch.einsum("blhn,bhpn->blhp", c, state) * total.exp()[..., None]
    left = (total[:, -1:] - total).exp()  # [B,L,H], the decay of each token up to the chunk's end
    added = torch.einsum("bshp,bshn->bhpn", x * left[..., None], b)
    return y, state * total[:, -1].exp()[..., None, None] + added


class StateCache:
    """The cache of a state space model, which does not grow. Per module: the latest inputs of its convolution [B,C,K-1]
    and its state [B,H,P,N]. Calls update it in place. A compiled step cannot update `length`: its caller calls
    `advance_length`."""

    max_length = 0  # it holds no positions, so it never becomes full

    def __init__(self) -> None:
        self.length = 0
        self.states: dict[torch.nn.Module, tuple[Tensor, Tensor]] = {}

    def check_rows(self, rows: int) -> None:
        """Raises ValueError for a batch of another size."""
        for held, _ in self.states.values():
            if len(held) != rows:
                raise ValueError(
                    f"the cache holds {len(held)} rows, the input has {rows}: start each generation with a new cache"
                )

    def tensors(self) -> list[Tensor]:
        """All tensors that it holds; the first dimension of each is the batch."""
        return [held for pair in self.states.values() for held in pair]

    def advance_length(self, new: int) -> None:
        """Counts `new` tokens."""
        self.length += new

    def update(self, module: torch.nn.Module, inputs: Tensor, state: Tensor) -> None:
        """Keeps the latest inputs [B,C,K-1] and the state [B,H,P,N] of a module for the next call. A graph writes them
        into the tensors that it was given."""
        if torch.compiler.is_compiling() and module in self.states:
            for held, new in zip(self.states[module], (inputs, state), strict=True):
                held.copy_(new)
        else:  # contiguous: a view would keep the inputs of the whole text
            self.states[module] = inputs.contiguous(), state

    def reorder(self, index: Tensor) -> None:
        """Keep the rows `index` int64 [N], in this order: the survivors of a beam."""
        self.states = {m: (u.index_select(0, index), s.index_select(0, index)) for m, (u, s) in self.states.items()}


class StatesAndKeys(Cache):
    """The part that caches of a model have in common of which some layers are recurrent and others have attention:
    states beside keys and values. A state cannot be taken back, so neither can the latest tokens."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.recurrent = StateCache()

    def reorder(self, index: Tensor) -> None:
        """Keep the rows `index` int64 [N], in this order, of all tensors."""
        super().reorder(index)
        self.recurrent.reorder(index)

    def reorder_from(self, index: Tensor, prefix_length: int = 0) -> None:
        """Of keys and values only the later positions are copied, in place; states, which sum up all, are copied
        whole."""
        super().reorder_from(index, prefix_length)
        for held in self.recurrent.tensors():
            held.copy_(held.index_select(0, index))

    def crop(self, length: int) -> None:
        """Raises TypeError if tokens would have to be forgotten."""
        if length < self.length:
            raise TypeError(f"the cache keeps a state that cannot forget its last {self.length - length} tokens")


class HybridCache(StatesAndKeys):
    """One that grows with the keys. A model without a layer that has keys calls `advance`."""

    def __init__(self) -> None:
        super().__init__()
        self.counted = 0

    @property
    def length(self) -> int:
        """The number of positions that it holds."""
        return max(super().length, self.counted)

    def advance(self, new: int, device: torch.device) -> None:
        """Counts `new` positions."""
        self.counted += new


class StaticHybridCache(StatesAndKeys, StaticCache):
    """One of fixed size."""

    def row_tensors(self) -> list[Tensor]:
        """The states, and the masks of prompts, if there are any."""
        return [*super().row_tensors(), *self.recurrent.tensors()]


class LeftPaddedHybridCache(StaticHybridCache, LeftPaddedCache):
    """One of fixed size that masks the padding of the prompts itself."""
