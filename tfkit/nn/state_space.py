"""A state space in place of attention (Dao and Gu 2024, arXiv:2405.21060): what was read is held in a matrix of fixed
size, to which each token is added and which fades by as much as the token says."""

from __future__ import annotations

import torch
from torch import Tensor


def state_space_scan(
    x: Tensor, log_decay: Tensor, b: Tensor, c: Tensor, state: Tensor, chunk: int = 256
) -> tuple[Tensor, Tensor]:
    """state_t = exp(fade_t) · state_{t-1} + x_t b_tᵀ, out_t = state_t c_t, for each head.

    Within `chunk` tokens it is computed as attention without a softmax, all at once, whose scores c · b are multiplied
    by how much has faded in between; from chunk to chunk only the state is handed on, so the cost grows with L.

    x [B,L,H,P], log_decay [B,L,H], 0 or less, b and c [B,L,H,N], state [B,H,P,N] -> (out [B,L,H,P], the last state)
    """
    out = []
    for start in range(0, x.size(1), chunk):
        now = slice(start, start + chunk)
        y, state = _chunk(x[:, now], log_decay[:, now], b[:, now], c[:, now], state)
        out.append(y)
    return torch.cat(out, dim=1), state


def _chunk(x: Tensor, log_decay: Tensor, b: Tensor, c: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    total = log_decay.cumsum(1)  # [B,L,H], since the chunk began
    causal = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).tril()
    between = (total[:, :, None] - total[:, None]).masked_fill(~causal[..., None], float("-inf"))  # [B,L,L,H]
    scores = torch.einsum("blhn,bshn->blsh", c, b) * between.exp()
    y = torch.einsum("blsh,bshp->blhp", scores, x)
    y = y + torch.einsum("blhn,bhpn->blhp", c, state) * total.exp()[..., None]
    left = (total[:, -1:] - total).exp()  # [B,L,H], of each token at the chunk's end
    added = torch.einsum("bshp,bshn->bhpn", x * left[..., None], b)
    return y, state * total[:, -1].exp()[..., None, None] + added


class StateCache:
    """What a model of state spaces remembers: it does not grow. Per module, the latest inputs of its convolution
    [B,C,K-1] and its state [B,H,P,N]. Calls advance it."""

    def __init__(self) -> None:
        self.length = 0
        self.states: dict[torch.nn.Module, tuple[Tensor, Tensor]] = {}

    def check_rows(self, rows: int) -> None:
        """Raises ValueError for a batch of another size."""
        for held, _ in self.states.values():
            if len(held) != rows:
                raise ValueError(f"the cache holds {len(held)} rows and {rows} came: a cache belongs to one generation")

    def reorder(self, index: Tensor) -> None:
        """Keep the rows that `index` int64 [N] names, in its order: a beam's survivors."""
        self.states = {m: (u.index_select(0, index), s.index_select(0, index)) for m, (u, s) in self.states.items()}
