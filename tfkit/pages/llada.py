"""LLaDA (Nie et al. 2025, arXiv:2502.09992): a language model by masked diffusion, of 8 billion parameters.

Adds to Llama: attention sees both sides, and the model predicts masked tokens where they stand, whatever share of the
text they are; so a text is written by filling in masks, the surest first. Its loss in training is weighted by the
inverse of the share (tfkit.objectives.masked_diffusion). As many key heads as query heads. Left out: blocks that are
filled in one after the other, and sampling, which are in tfkit.decode.unmasking.

Shapes: B sentences, L tokens, E = d_model, H = n_heads, D = E / H, V = vocab_size.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 126464
    d_model: int = 4096
    n_layers: int = 32
    n_heads: int = 32
    d_ff: int = 12288
    rope_theta: float = 500000.0
    eps: float = 1e-5
    mask_token_id: int = 126336


class RMSNorm(nn.Module):
    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """[...,width] -> [...,width]"""
        root_mean_square = (x.square().mean(-1, keepdim=True) + self.eps).sqrt()  # [...,1]
        return self.weight * (x / root_mean_square)


def rotate(x: Tensor, theta: float) -> Tensor:
    """[B,H,L,D]: rotate the pairs of columns (i, i + D/2) by angles that grow with the position -> [B,H,L,D]

    The product of a rotated query and a rotated key depends on the distance between the two, and not on where they are.
    """
    position = torch.arange(x.size(2), dtype=torch.float64)[:, None]  # [L,1]
    frequency = theta ** (-torch.arange(0, x.size(3), 2, dtype=torch.float64) / x.size(3))  # [D/2]
    cos, sin = (position * frequency).cos().to(x.dtype), (position * frequency).sin().to(x.dtype)  # [L,D/2]
    first, second = x.chunk(2, dim=-1)  # [B,H,L,D/2]
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)  # [B,H,L,D]


class Attention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads, self.rope_theta = c.n_heads, c.rope_theta
        self.q_proj = nn.Linear(c.d_model, c.d_model, bias=False)
        self.k_proj = nn.Linear(c.d_model, c.d_model, bias=False)
        self.v_proj = nn.Linear(c.d_model, c.d_model, bias=False)
        self.o_proj = nn.Linear(c.d_model, c.d_model, bias=False)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]; each token sees all"""
        q = rotate(self.split_heads(self.q_proj(x)), self.rope_theta)  # [B,H,L,D]
        k = rotate(self.split_heads(self.k_proj(x)), self.rope_theta)  # [B,H,L,D]
        v = self.split_heads(self.v_proj(x))  # [B,H,L,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,L,L]
        weights = scores.softmax(-1)  # [B,H,L,L], each row sums to 1
        output = weights @ v  # [B,H,L,D]
        return self.o_proj(output.transpose(1, 2).flatten(2))  # [B,L,E]


class FeedForward(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.gate = nn.Linear(c.d_model, c.d_ff, bias=False)
        self.up = nn.Linear(c.d_model, c.d_ff, bias=False)
        self.down = nn.Linear(c.d_ff, c.d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.norm1 = RMSNorm(c.d_model, c.eps)
        self.attn = Attention(c)
        self.norm2 = RMSNorm(c.d_model, c.eps)
        self.ff = FeedForward(c)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        x = x + self.attn(self.norm1(x))  # [B,L,E]
        return x + self.ff(self.norm2(x))


class LLaDA(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.mask_id = c.mask_token_id
        self.embed = nn.Embedding(c.vocab_size, c.d_model)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.norm = RMSNorm(c.d_model, c.eps)
        self.lm_head = nn.Linear(c.d_model, c.vocab_size, bias=False)

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> logits [B,L,V] of the token at each position"""
        x = self.embed(input_ids)  # [B,L,E]
        for layer in self.layers:
            x = layer(x)  # [B,L,E]
        return self.lm_head(self.norm(x))  # [B,L,V]

    @torch.no_grad()
    def unmask(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> [B,L]: at each step, of each sentence, the mask of whose token the model is surest"""
        while (input_ids == self.mask_id).any():
            scores = self(input_ids).index_fill(-1, torch.tensor([self.mask_id]), float("-inf"))  # [B,L,V]
            probability, token = scores.softmax(-1).max(-1)  # [B,L]
            probability = probability.masked_fill(input_ids != self.mask_id, -1.0)  # [B,L]
            place = probability.argmax(-1, keepdim=True)  # [B,1]
            still = input_ids.gather(1, place) == self.mask_id  # [B,1], False in a sentence without masks
            found = torch.where(still, token.gather(1, place), input_ids.gather(1, place))  # [B,1]
            input_ids = input_ids.scatter(1, place, found)  # [B,L]
        return input_ids


MODEL = LLaDA
