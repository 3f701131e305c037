"""Mixture of experts: many feed-forward networks, of which each token uses a few (Shazeer et al. 2017,
arXiv:1701.06538; Fedus et al. 2021, arXiv:2101.03961)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .. import tracing
from .feed_forward import GatedFeedForward


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


STEP_TOKENS = 16  # new tokens of each row up to which a call counts as a step of decoding


def host_would_wait(device: torch.device) -> bool:
    """Whether reading a tensor's values makes the host wait for the device."""
    return device.type != "cpu"


def has_fixed_shapes(x: Tensor) -> bool:
    """Whether experts should compute new tokens x [B,L,E] by `mix_experts_in_step`: in a step of decoding on a GPU."""
    if x.size(1) > STEP_TOKENS or torch.is_grad_enabled() or not host_would_wait(x.device):
        return False
    return torch.compiler.is_compiling() or not tracing.is_observed()


def mix_experts_in_step(
    x: Tensor, weights: Tensor, chosen: Tensor, n_experts: int, run: Callable[[Tensor, Tensor | None], Tensor]
) -> Tensor:
    """As `mix_experts`, in shapes that do not depend on the choice, so that the host waits for nothing: the matrices of
    each token's experts are gathered; or, where that would move more bytes than reading all of them, every expert
    computes every token.

    x [T,E], weights [T,k], chosen int64 [T,k]; run: tokens [G,t,E] and their experts int64 [G], or None for all in
    order -> [G,t,E]; -> [T,E]
    """
    tokens, k = chosen.shape
    if 3 * tokens * k < n_experts:  # what is gathered is read, written and read again
        out = run(x.repeat_interleave(k, 0)[:, None], chosen.flatten()).view(tokens, k, -1)
        return (weights[..., None] * out).sum(1).to(x.dtype)
    share = weights.new_zeros(tokens, n_experts).scatter(1, chosen, weights).T[..., None]  # [N,T,1]
    return (share * run(x.expand(n_experts, -1, -1), None)).sum(0).to(x.dtype)


class ExpertList(nn.ModuleList):
    """The experts of a layer. `stack` puts their matrices one after the other in memory, as `run` requires."""

    MATRICES = ("gate", "up", "down")  # of a `GatedFeedForward`
    stacked: tuple[Tensor, ...] | None = None  # [N,F,E], [N,F,E], [N,E,F]

    def stack(self) -> bool:
        """Makes the matrices of the experts views of three tensors, if they are not yet -> whether that was possible:
        not for int8 or sharded weights, or other networks than `GatedFeedForward` without biases"""
        gated = all(isinstance(expert, GatedFeedForward) and expert.gate.bias is None for expert in self)
        weights = [[getattr(expert, name).weight for expert in self] for name in self.MATRICES] if gated else []
        plain = gated and all(type(weight) is nn.Parameter for group in weights for weight in group)
        self.stacked = tuple(map(stack_parameters, weights)) if plain else None
        return plain

    def run(self, x: Tensor, index: Tensor | None) -> Tensor:
        """x [G,t,E] by the experts `index` int64 [G], or by all in order -> [G,t,E]"""
        assert self.stacked is not None
        parts = self.stacked if index is None else [part.index_select(0, index) for part in self.stacked]
        gate, up, down = (part.transpose(1, 2) for part in parts)
        first: Any = self[0]
        return torch.bmm(first.activation(torch.bmm(x, gate)) * torch.bmm(x, up), down)

    def _apply(self, fn: Any, recurse: bool = True) -> ExpertList:
        self.stacked = None  # the parameters move to other tensors
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    def _load_from_state_dict(self, *given: Any) -> None:
        self.stacked = None
        super()._load_from_state_dict(*given)

    def __getstate__(self) -> dict[str, Any]:
        """A copy has parameters of its own."""
        return {**self.__dict__, "stacked": None}


def stack_parameters(parameters: Sequence[nn.Parameter]) -> Tensor:
    """Parameters of one shape as one tensor [N,...], of which they are views afterwards."""
    first, size, storage = parameters[0], parameters[0].nbytes, parameters[0].untyped_storage().data_ptr()
    with torch.no_grad(), torch.inference_mode(False):  # ordinary tensors, as training needs them
        if all(
            p.is_contiguous()
            and p.untyped_storage().data_ptr() == storage
            and p.data_ptr() == first.data_ptr() + i * size
            for i, p in enumerate(parameters)
        ):
            return first.detach().as_strided((len(parameters), *first.shape), (first.numel(), *first.stride()))
        stacked = torch.stack([parameter.detach() for parameter in parameters])
        for parameter, row in zip(parameters, stacked, strict=True):
            parameter.data = row
    return stacked


def stack_experts(model: nn.Module) -> bool:
    """Stacks the experts of all layers, on a device for which the host would wait -> whether steps never wait"""
    device = next(model.parameters()).device
    lists = [module for module in model.modules() if isinstance(module, ExpertList)]
    return host_would_wait(device) and all([experts.stack() for experts in lists])


class MixtureOfExperts(nn.Module):
    """Submodules router: nn.Linear(E, N) without bias, experts: N feed-forward networks. k: experts per token."""

    def __init__(self, d_model: int, experts: Sequence[nn.Module], k: int) -> None:
        super().__init__()
        if not 1 <= k <= len(experts):
            raise ValueError(f"each token takes {k} experts, but there are only {len(experts)}")
        self.k = k
        self.router = nn.Linear(d_model, len(experts), bias=False)
        self.experts = ExpertList(experts)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]"""
        flat = x.flatten(0, 1)  # [T,E]
        weights, chosen = route_top_k(self.router(flat), self.k)
        return apply_experts(self.experts, x, weights.to(x.dtype), chosen)


def apply_experts(experts: ExpertList, x: Tensor, weights: Tensor, chosen: Tensor) -> Tensor:
    """x [B,L,E], weights and chosen [B·L,k] -> [B,L,E]. A compiled step does not wait for a GPU if the experts are
    stacked; it is the decoder that stacks them, before each generation."""
    flat = x.flatten(0, 1)
    if experts.stacked is not None and torch.compiler.is_compiling() and has_fixed_shapes(x):
        return mix_experts_in_step(flat, weights, chosen, len(experts), experts.run).view_as(x)
    return mix_experts(flat, weights, chosen, list(experts)).view_as(x)


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
