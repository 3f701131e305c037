"""The gated delta rule (Yang et al. 2024, arXiv:2412.06464) in place of attention: the past is a matrix of fixed size
that maps keys to values. At each token it decays, and then the value that it has under the token's key is moved towards
the token's value, where linear attention would only add (the delta rule: Schlag et al. 2021, arXiv:2102.11174)."""

from __future__ import annotations

import torch
from torch import Tensor

CHUNK = 64  # tokens that are computed in parallel
NORM_EPS = 1e-6


def unit_length(x: Tensor) -> Tensor:
    """x [...,width] -> [...,width], of length one; vectors that are nearly zero stay so"""
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + NORM_EPS)


def gated_delta_rule(
    q: Tensor, k: Tensor, v: Tensor, log_decay: Tensor, beta: Tensor, state: Tensor, chunk: int = CHUNK
) -> tuple[Tensor, Tensor]:
    """For each head and token: state = exp(log_decay) · state, then state = state + k uᵀ with the correction
    u = beta · (v - stateᵀ k), and out = stateᵀ q.

    q, k [B,L,H,K], v [B,L,H,V], log_decay [B,L,H], 0 or less, beta [B,L,H], from 0 to 1, state [B,H,K,V] -> (out
    [B,L,H,V], the last state). A single token is one step of the recurrence; several are computed in parallel, `chunk`
    at a time, and chunks pass on only the state, so the cost grows linearly with L.
    """
    q, k, v, log_decay, beta = (x.transpose(1, 2) for x in (q, k, v, log_decay, beta))  # [B,H,L,·], [B,H,L]
    if q.size(2) == 1:
        out, state = delta_step(q[:, :, 0], k[:, :, 0], v[:, :, 0], log_decay[:, :, 0], beta[:, :, 0], state)
        return out[:, None], state
    found = []
    chunks = [x.split(chunk, dim=2) for x in (q, k, v, log_decay, beta)]
    for q_part, k_part, v_part, decay_part, beta_part in zip(*chunks, strict=True):
        out, state = delta_chunk(q_part, k_part, v_part, decay_part, beta_part, state)
        found.append(out)
    return torch.cat(found, dim=2).transpose(1, 2), state


def delta_step(
    q: Tensor, k: Tensor, v: Tensor, log_decay: Tensor, beta: Tensor, state: Tensor
) -> tuple[Tensor, Tensor]:
    """One token: q, k [B,H,K], v [B,H,V], log_decay and beta [B,H], state [B,H,K,V] -> (out [B,H,V], state)"""
    state = log_decay.exp()[..., None, None] * state
    correction = beta[..., None] * (v - torch.einsum("bhk,bhkv->bhv", k, state))
    state = state + k[..., None] * correction[..., None, :]
    return torch.einsum("bhk,bhkv->bhv", q, state), state


def delta_chunk(
    q: Tensor, k: Tensor, v: Tensor, log_decay: Tensor, beta: Tensor, state: Tensor
) -> tuple[Tensor, Tensor]:
    """T tokens: q, k [B,H,T,K], v [B,H,T,V], log_decay and beta [B,H,T], state [B,H,K,V] -> (out [B,H,T,V], state)

    A token's correction depends on those before it, through the products of the keys: a triangular system of T
    equations, the same for each column of the values. With the corrections known, what is left is attention without a
    softmax, whose scores are multiplied by the decay between the two tokens.
    """
    total = log_decay.cumsum(-1)  # [B,H,T], from the start of the chunk
    between = (total[..., None] - total[..., None, :]).tril().exp().tril()  # [B,H,T,T]; later tokens could overflow
    since_start, until_end = total.exp()[..., None], (total[..., -1:] - total).exp()[..., None]  # [B,H,T,1]
    weight = beta[..., None]
    system = weight * between * (k @ k.mT)  # its diagonal is not read: it counts as ones
    wanted = weight * (v - since_start * (k @ state))
    corrections = torch.linalg.solve_triangular(system, wanted, upper=False, unitriangular=True)  # [B,H,T,V]
    out = since_start * (q @ state) + (between * (q @ k.mT)) @ corrections
    return out, since_start[..., -1:, :] * state + (until_end * k).mT @ corrections
