"""Mamba-2 (Dao and Gu 2024, arXiv:2405.21060): a language model without attention.

In place of Llama's attention and feed-forward network, one kind of layer: a short convolution, then in each head a
state, a matrix of fixed size, which decays by a factor that depends on the token and to which the token is added; then
a gate. Adds to recurrent networks: no activation function between one state and the next, so that training can be
parallel, without the loop below.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, P = d_head, W = H·P, G = n_groups, N = d_state, V = vocab_size,
M = W + 2·G·N, what the convolution mixes.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 32768
    d_model: int = 4096
    n_layers: int = 64
    n_heads: int = 128
    d_head: int = 64
    d_state: int = 128
    n_groups: int = 8
    kernel: int = 4
    eps: float = 1e-5


class RMSNorm(nn.Module):
    def __init__(self, width: int, eps: float, groups: int = 1) -> None:
        super().__init__()
        self.eps, self.groups, self.weight = eps, groups, nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,width] -> [B,L,width]; each group of columns has a norm of its own"""
        x = x.unflatten(-1, (self.groups, -1))  # [B,L,groups,width/groups]
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)  # [B,L,groups,width/groups]
        return self.weight * x.flatten(-2)


class Mixer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.config, width = c, c.n_heads * c.d_head
        mixed = width + 2 * c.n_groups * c.d_state
        self.in_proj = nn.Linear(c.d_model, width + mixed + c.n_heads, bias=False)
        self.conv = nn.Conv1d(mixed, mixed, c.kernel, groups=mixed)
        self.decay_log = nn.Parameter(torch.arange(1.0, c.n_heads + 1).log())
        self.skip = nn.Parameter(torch.ones(c.n_heads))
        self.step_bias = nn.Parameter(torch.zeros(c.n_heads))
        self.norm = RMSNorm(width, c.eps, c.n_groups)
        self.out_proj = nn.Linear(width, c.d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]; causal"""
        c = self.config
        width, shared = c.n_heads * c.d_head, c.n_groups * c.d_state
        gate, mixed, step = self.in_proj(x).split([width, width + 2 * shared, c.n_heads], dim=-1)
        mixed = self.convolve(mixed)  # [B,L,M]
        x, write, read = mixed.split([width, shared, shared], dim=-1)  # [B,L,W], twice [B,L,G·N]
        x = x.unflatten(-1, (c.n_heads, c.d_head))  # [B,L,H,P]
        write, read = self.for_heads(write), self.for_heads(read)  # [B,L,H,N]
        step = F.softplus(step + self.step_bias)  # [B,L,H]
        decay = torch.exp(-self.decay_log.exp() * step)  # [B,L,H], between 0 and 1
        state = x.new_zeros(x.size(0), c.n_heads, c.d_head, c.d_state)  # [B,H,P,N]: the state
        out = []
        for t in range(x.size(1)):
            added = (step[:, t, :, None] * x[:, t])[..., None] * write[:, t, :, None]  # [B,H,P,N]
            state = decay[:, t, :, None, None] * state + added  # [B,H,P,N]
            out.append((state @ read[:, t, :, :, None]).squeeze(-1) + self.skip[:, None] * x[:, t])  # [B,H,P]
        y = torch.stack(out, dim=1).flatten(2)  # [B,L,W]
        return self.out_proj(self.norm(y * F.silu(gate)))  # [B,L,E]

    def convolve(self, x: Tensor) -> Tensor:
        """[B,L,M] -> [B,L,M]: each column by itself, over the token and the kernel - 1 before it"""
        x = F.pad(x.transpose(1, 2), (self.config.kernel - 1, 0))  # [B,M,K-1+L]
        return F.silu(self.conv(x)).transpose(1, 2)

    def for_heads(self, x: Tensor) -> Tensor:
        """[B,L,G·N] -> [B,L,H,N]: the heads of a group have the same"""
        c = self.config
        return x.unflatten(-1, (c.n_groups, c.d_state)).repeat_interleave(c.n_heads // c.n_groups, dim=2)


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.norm, self.mixer = RMSNorm(c.d_model, c.eps), Mixer(c)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return x + self.mixer(self.norm(x))


class Mamba2(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = nn.Embedding(c.vocab_size, c.d_model)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.norm, self.lm_head = RMSNorm(c.d_model, c.eps), nn.Linear(c.d_model, c.vocab_size, bias=False)

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> logits [B,L,V] of the token that comes after each"""
        x = self.embed(input_ids)  # [B,L,E]
        for layer in self.layers:
            x = layer(x)  # [B,L,E]
        return self.lm_head(self.norm(x))  # [B,L,V]

    @torch.no_grad()
    def generate(self, input_ids: Tensor, max_new_tokens: int) -> Tensor:
        """input_ids [B,L] -> [B,L+max_new_tokens]: greedy decoding"""
        for _ in range(max_new_tokens):
            next_id = self(input_ids)[:, -1].argmax(-1, keepdim=True)  # [B,1]
            input_ids = torch.cat([input_ids, next_id], dim=1)  # [B,L+1]
        return input_ids


MODEL = Mamba2
