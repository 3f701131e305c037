"""Mixture of experts: many feed-forward networks, of which each token uses a few (Shazeer et al. 2017,
arXiv:1701.06538; Fedus et al. 2021, arXiv:2101.03961)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .. import tracing


def route_top_k(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Softmax over all experts, then the k largest, whose weights are normalised to sum to 1 (Jiang et al. 2024,
    Mixtral).

    logits [T,N] -> (weights [T,k], float32 or wider; experts int64 [T,k])
    """
    probabilities = logits.to(torch.promote_types(logits.dtype, torch.float32)).softmax(-1)
    weights, experts = probabilities.topk(k, dim=-1)
    return weights / weights.sum(-1, keepdim=True), experts


def route_in_groups(
    logits: Tensor, bias: Tensor, k: int, *, groups: int, groups_kept: int, normalize: bool = True, scale: float = 1.0
) -> tuple[Tensor, Tensor]:
    """The k experts with the largest sigmoid plus bias, from the groups whose two best experts have the largest sum;
    the weights do not include the bias (DeepSeek-AI 2024, arXiv:2412.19437, equations 12 to 16). Training lowers the
    bias of overloaded experts, which replaces a balancing loss.

    logits [T,N], bias [N] -> (weights [T,k], which sum to `scale` if they are normalized; experts int64 [T,k])
    """
    scores = logits.sigmoid()
    grouped = (scores + bias).unflatten(-1, (groups, -1))  # [T,groups,N/groups]
    best = grouped.topk(2, dim=-1).values.sum(-1).topk(groups_kept, dim=-1).indices  # [T,groups_kept]
    kept = torch.zeros_like(grouped[..., 0], dtype=torch.bool).scatter(-1, best, True)  # [T,groups]
    experts = grouped.masked_fill(~kept[..., None], float("-inf")).flatten(-2).topk(k, dim=-1).indices
    weights = scores.gather(-1, experts)
    if normalize:
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
    return weights * scale, experts


def mix_experts(x: Tensor, weights: Tensor, chosen: Tensor, experts: Sequence[Callable[[Tensor], Tensor]]) -> Tensor:
    """The weighted sum of the outputs of each token's experts; every expert computes its own tokens only.

    x [T,E], weights [T,k], chosen int64 [T,k] -> [T,E]
    """
    if torch.compiler.is_compiling():  # a graph may not read how many tokens each expert has
        return _mix_in_graph(x, weights, chosen, experts)
    order = chosen.flatten().argsort(stable=True)  # [T·k]: the choices, those of one expert together
    token = order // chosen.size(1)
    counts = chosen.flatten().bincount(minlength=len(experts)).tolist()
    needed = torch.is_grad_enabled() or tracing.is_observed()  # an expert without tokens has a gradient too: zeros
    batches = zip(experts, x[token].split(counts), strict=True)
    mixed = torch.cat([expert(rows) for expert, rows in batches if needed or len(rows)])
    mixed = (weights.flatten()[order, None] * mixed).to(x.dtype)
    # `index_add_` would keep `mixed` for the backward pass, which does not need it
    return torch.zeros_like(x).scatter_add_(0, token[:, None].expand_as(mixed), mixed)


def _mix_in_graph(x: Tensor, weights: Tensor, chosen: Tensor, experts: Sequence[Callable[[Tensor], Tensor]]) -> Tensor:
    out = torch.zeros_like(x)
    for index, expert in enumerate(experts):
        token, choice = (chosen == index).nonzero(as_tuple=True)
        out = out.index_add(0, token, (weights[token, choice, None] * expert(x[token])).to(x.dtype))
    return out


class MixtureOfExperts(nn.Module):
    """Submodules router: nn.Linear(E, N) without bias, experts: N feed-forward networks. k: experts per token."""

    def __init__(self, d_model: int, experts: Sequence[nn.Module], k: int) -> None:
        super().__init__()
        if not 1 <= k <= len(experts):
            raise ValueError(f"each token takes {k} experts, but there are only {len(experts)}")
        self.k = k
        self.router = nn.Linear(d_model, len(experts), bias=False)
        self.experts = nn.ModuleList(experts)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]"""
        flat = x.flatten(0, 1)  # [T,E]
        weights, chosen = route_top_k(self.router(flat), self.k)
        return mix_experts(flat, weights.to(x.dtype), chosen, list(self.experts)).view_as(x)


def load_balancing_loss(router_logits: Sequence[Tensor], k: int, mask: Tensor | None = None) -> Tensor:
    """N · Σ (share of tokens that chose an expert) · (its mean probability), which is lowest for balanced experts
    (Fedus et al. 2021, equations 4 to 6, over the k choices and all layers together).

    router_logits: [T,N] of each layer; mask bool [T] or None, False at padding, which does not count -> scalar
    """
    probabilities = torch.cat(list(router_logits)).softmax(-1)  # [layers·T,N]
    experts = probabilities.size(-1)
    chosen = F.one_hot(probabilities.topk(k, dim=-1).indices, experts).to(probabilities.dtype)  # [layers·T,k,N]
    counted = torch.ones_like(probabilities[:, 0])
    if mask is not None:
        counted = mask.flatten().to(probabilities.dtype).repeat(len(router_logits))
    share = (chosen * counted[:, None, None]).sum(0) / counted.sum()  # [k,N]
    mean = (probabilities * counted[:, None]).sum(0) / counted.sum()  # [N]
    return experts * (share * mean).sum()
