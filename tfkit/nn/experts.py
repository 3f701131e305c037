"""Mixture of experts: many feed-forward networks, of which each token uses a few (Shazeer et al. 2017,
arXiv:1701.06538; Fedus et al. 2021, arXiv:2101.03961)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .. import tracing
from .feed_forward import GatedFeedForward
from .in_place import multiply


def route_top_k(logits: Tensor, k: int, normalize: bool = True) -> tuple[Tensor, Tensor]:
    """Softmax over all experts, then the k largest, whose weights are normalised to sum to 1 (Jiang et al. 2024,
    Mixtral) unless normalize is False.

    logits [T,N] -> (weights [T,k], float32 or wider; experts int64 [T,k])
    """
    probabilities = logits.to(torch.promote_types(logits.dtype, torch.float32)).softmax(-1)
    weights, experts = probabilities.topk(k, dim=-1)
    return (weights / weights.sum(-1, keepdim=True) if normalize else weights), experts


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


class StackedExperts(Protocol):
    """The experts of a layer. If `is_stacked`, their matrices are parts of a few tensors [N,...], and `run` and
    `run_grouped` compute many experts at once."""

    @property
    def d_ff(self) -> int:
        """The inner width of an expert."""
        ...

    def __len__(self) -> int: ...

    def expert_functions(self) -> Sequence[Callable[[Tensor], Tensor]]:
        """The experts one by one, each a function of its tokens [t,E] -> [t,E]."""
        ...

    def is_stacked(self) -> bool:
        """Whether `run` and `run_grouped` can be called."""
        ...

    def run(self, x: Tensor, index: Tensor | None) -> Tensor:
        """x [G,t,E] by the experts `index` int64 [G], or by all in order -> [G,t,E]"""
        ...

    def run_grouped(self, x: Tensor, ends: Tensor, expert_of_row: Tensor) -> Tensor:
        """x [R,E], the rows of one expert together and the experts in order; ends int32 [N]: the position after each
        expert's last row; expert_of_row int64 [R]: the expert of each row -> [R,E]"""
        ...


def apply_experts(experts: StackedExperts, x: Tensor, weights: Tensor, chosen: Tensor) -> Tensor:
    """`mix_experts`; on a GPU, if the experts are stacked, in one of the two ways in which the host does not wait.

    x [B,L,E], weights and chosen [B·L,k] -> [B,L,E]
    """
    flat = x.flatten(0, 1)
    together = host_would_wait(x.device) and (torch.compiler.is_compiling() or not tracing.is_observed())
    if together and experts.is_stacked():
        if x.size(1) <= STEP_TOKENS and not torch.is_grad_enabled():
            return mix_experts_in_step(flat, weights, chosen, len(experts), experts.run).view_as(x)
        if supports_grouped_mm(x, experts.d_ff):
            return mix_experts_grouped(flat, weights, chosen, len(experts), experts.run_grouped).view_as(x)
    return mix_experts(flat, weights, chosen, experts.expert_functions()).view_as(x)


def mix_experts_in_step(
    x: Tensor, weights: Tensor, chosen: Tensor, n_experts: int, run: Callable[[Tensor, Tensor | None], Tensor]
) -> Tensor:
    """As `mix_experts`, in shapes that do not depend on the choice, so that the host waits for nothing: the matrices of
    each token's experts are gathered; or, where that would move more bytes than reading all of them, every expert
    computes every token.

    x [T,E], weights [T,k], chosen int64 [T,k]; run: as `StackedExperts.run` -> [T,E]
    """
    tokens, k = chosen.shape
    if 3 * tokens * k < n_experts:  # what is gathered is read, written and read again
        out = run(x.repeat_interleave(k, 0)[:, None], chosen.flatten()).view(tokens, k, -1)
        return (weights[..., None] * out).sum(1).to(x.dtype)
    share = weights.new_zeros(tokens, n_experts).scatter(1, chosen, weights).T[..., None]  # [N,T,1]
    return (share * run(x.expand(n_experts, -1, -1), None)).sum(0).to(x.dtype)


def mix_experts_grouped(
    x: Tensor, weights: Tensor, chosen: Tensor, n_experts: int, run: Callable[[Tensor, Tensor, Tensor], Tensor]
) -> Tensor:
    """As `mix_experts`, for any number of tokens and with gradients; how many tokens each expert has stays on the GPU.

    x [T,E], weights [T,k], chosen int64 [T,k]; run: as `StackedExperts.run_grouped` -> [T,E]
    """
    tokens, k = chosen.shape
    expert_of_row, order = chosen.flatten().sort(stable=True)  # [T·k]: the choices, those of one expert together
    ends = torch.searchsorted(expert_of_row, torch.arange(n_experts, device=x.device), right=True, out_int32=True)
    mixed = run(x[order // k], ends, expert_of_row)
    inverse = torch.empty_like(order).scatter_(0, order, torch.arange(tokens * k, device=x.device))
    return (weights[..., None] * mixed[inverse].view(tokens, k, -1)).sum(1).to(x.dtype)


def matmul_dtype(x: Tensor) -> torch.dtype:
    """The type in which matrix products of x are computed: autocast's, or its own."""
    kind = x.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype


def supports_grouped_mm(x: Tensor, d_ff: int) -> bool:
    """Whether `torch.nn.functional.grouped_mm` has a kernel for x [...,E] and experts of inner width d_ff: on GPUs
    since Ampere, for bfloat16 with rows of a multiple of 16 bytes. For other types it reads on the host how many rows
    each group has."""
    aligned = x.size(-1) % 8 == d_ff % 8 == 0
    return aligned and matmul_dtype(x) == torch.bfloat16 and has_grouped_mm_kernel(x.device)


def has_grouped_mm_kernel(device: torch.device) -> bool:
    """Whether this PyTorch has a kernel of grouped products for the device, a GPU."""
    return hasattr(F, "grouped_mm") and device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0)


def grouped_mm(x: Tensor, matrices: Tensor, ends: Tensor) -> Tensor:
    """x [R,I], matrices [N,I,O], ends int32 [N] -> [R,O]: rows ends[i-1] to ends[i] by matrix i"""
    dtype = matmul_dtype(x)
    product: Tensor = F.grouped_mm(x.to(dtype), matrices.to(dtype), offs=ends)
    return product


class ExpertList(nn.ModuleList):
    """The experts of a layer as modules. `stack` puts their matrices one after the other in memory."""

    MATRICES = ("gate", "up", "down")  # of a `GatedFeedForward`
    stacked: tuple[Tensor, ...] | None = None  # [N,F,E], [N,F,E], [N,E,F]

    def expert_functions(self) -> Sequence[Callable[[Tensor], Tensor]]:
        """The experts themselves."""
        return list(self)

    def weights(self) -> list[list[Tensor]] | None:
        """The weights of all experts, of each of the three matrices; None if an expert computes anything else than
        three products with them: with biases, dropout, hooks, or other layers (LoRA, int8, shards)."""
        experts: list[Any] = list(self)
        activation = getattr(experts[0], "activation", None)
        for expert in experts:
            if not is_unmodified(expert, GatedFeedForward) or expert.activation is not activation or expert.dropout.p:
                return None
        linears = [[getattr(expert, name) for expert in experts] for name in self.MATRICES]
        if not all(is_unmodified(linear, nn.Linear) for group in linears for linear in group):
            return None
        parameters = [[linear._parameters for linear in group] for group in linears]  # three times as fast as `.weight`
        if any(
            own["bias"] is not None or type(own["weight"]) is not nn.Parameter for group in parameters for own in group
        ):
            return None
        return [[own["weight"] for own in group] for group in parameters]

    def stack(self) -> bool:
        """Makes the matrices of the experts views of three tensors, if they are not yet -> whether that is possible:
        see `weights`"""
        weights = self.weights()
        self.stacked = None if weights is None else tuple(map(stack_parameters, weights))
        return weights is not None

    def is_stacked(self) -> bool:
        """Whether the experts are still those that were stacked. A compiled call does not look: whoever compiles it
        stacks them first."""
        if self.stacked is None or torch.compiler.is_compiling():
            return self.stacked is not None
        weights = self.weights()
        return weights is not None and all(
            are_slices(group, tensor.data_ptr()) for group, tensor in zip(weights, self.stacked, strict=True)
        )

    def run(self, x: Tensor, index: Tensor | None) -> Tensor:
        """See `StackedExperts.run`."""
        assert self.stacked is not None
        parts = self.stacked if index is None else [part.index_select(0, index) for part in self.stacked]
        gate, up, down = (part.transpose(1, 2) for part in parts)
        return torch.bmm(self.activation(torch.bmm(x, gate)) * torch.bmm(x, up), down)

    def run_grouped(self, x: Tensor, ends: Tensor, expert_of_row: Tensor) -> Tensor:
        """See `StackedExperts.run_grouped`; differentiable in the experts' parameters."""
        assert self.stacked is not None
        tensors: list[Any] = []
        for part, name in zip(self.stacked, self.MATRICES, strict=True):
            weights = [getattr(expert, name).weight for expert in self]
            tensors.append(ParameterStack.apply(part, *weights))
        gate, up, down = (tensor.transpose(1, 2) for tensor in tensors)
        inner = multiply(self.activation(grouped_mm(x, gate, ends)), grouped_mm(x, up, ends))
        return grouped_mm(inner, down, ends)

    @property
    def d_ff(self) -> int:
        """The inner width of an expert."""
        first: Any = self[0]
        width: int = first.gate.out_features
        return width

    @property
    def activation(self) -> Callable[[Tensor], Tensor]:
        """That of every expert."""
        first: Any = self[0]
        activation: Callable[[Tensor], Tensor] = first.activation
        return activation

    def _apply(self, fn: Any, recurse: bool = True) -> ExpertList:
        self.stacked = None  # the parameters move to other tensors
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    def _load_from_state_dict(self, state: Any, prefix: str, metadata: Any, *given: Any) -> None:
        if metadata.get("assign_to_params_buffers"):  # else the values are copied into the same parameters
            self.stacked = None
        super()._load_from_state_dict(state, prefix, metadata, *given)

    def __getstate__(self) -> dict[str, Any]:
        """A copy has parameters of its own."""
        return {**self.__dict__, "stacked": None}


class ParameterStack(torch.autograd.Function):
    """A tensor [N,...] as a function of the N parameters that are its parts: nothing is copied, and the gradient of
    each is a part of the tensor's gradient."""

    @staticmethod
    def forward(stacked: Tensor, *parameters: Tensor) -> Tensor:
        """stacked [N,...], parameters: N tensors [...] -> [N,...]"""
        return stacked.view_as(stacked)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing is saved."""

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """The gradient [N,...] -> none for the tensor, and a row for each parameter"""
        return None, *grad.unbind()


def is_unmodified(module: Any, kind: type[nn.Module]) -> bool:
    """Whether a module is of this very class, and nothing is hooked to its call."""
    return type(module) is kind and not (module._forward_hooks or module._forward_pre_hooks or module._backward_hooks)


def are_slices(parameters: Sequence[Tensor], address: int) -> bool:
    """Whether the parameters, all of one shape, lie one after the other in memory from this address on."""
    return all(p.data_ptr() == address + i * p.nbytes for i, p in enumerate(parameters))


def stack_parameters(parameters: Sequence[Tensor]) -> Tensor:
    """Parameters of one shape as one tensor [N,...], of which they are views afterwards."""
    first, storages = parameters[0], {parameter.untyped_storage().data_ptr() for parameter in parameters}
    contiguous = all(parameter.is_contiguous() for parameter in parameters)
    with torch.no_grad(), torch.inference_mode(False):  # ordinary tensors, as training needs them
        if contiguous and len(storages) == 1 and are_slices(parameters, first.data_ptr()):
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
    """Submodules router: nn.Linear(E, N) without bias, experts: N feed-forward networks. k: experts per token;
    normalize: whether their weights sum to 1. Raises ValueError if there are fewer than k experts."""

    def __init__(self, d_model: int, experts: Sequence[nn.Module], k: int, normalize: bool = True) -> None:
        super().__init__()
        if not 1 <= k <= len(experts):
            raise ValueError(f"each token takes {k} experts, but there are only {len(experts)}")
        self.k, self.normalize = k, normalize
        self.router = nn.Linear(d_model, len(experts), bias=False)
        self.experts = ExpertList(experts)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]"""
        flat = x.flatten(0, 1)  # [T,E]
        weights, chosen = route_top_k(self.router(flat), self.k, self.normalize)
        return apply_experts(self.experts, x, weights.to(x.dtype), chosen)


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
