"""ViT (Dosovitskiy et al. 2020, arXiv:2010.11929): patches of an image are read like the tokens of a text.

Adds to BERT's encoder: patches of 16 by 16 pixels in place of tokens, each embedded by one matrix; a learned vector in
front (the class token), from whose state the label is predicted; pre-norm with a final norm. There is no mask.

Shapes: B pictures, C = n_channels, P patches, L = 1 + P, E = d_model, H = n_heads, D = E / H, N = num_labels.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    d_model: int = 768
    n_layers: int = 12
    n_heads: int = 12
    d_ff: int = 3072
    image_size: int = 224
    patch_size: int = 16
    n_channels: int = 3
    num_labels: int = 1000
    eps: float = 1e-12


class Embeddings(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.patches = nn.Conv2d(c.n_channels, c.d_model, kernel_size=c.patch_size, stride=c.patch_size)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, c.d_model))
        self.positions = nn.Parameter(torch.zeros(1, 1 + (c.image_size // c.patch_size) ** 2, c.d_model))

    def forward(self, pixel_values: Tensor) -> Tensor:
        """pixel_values [B,C,height,width] -> [B,L,E]"""
        size = self.patches.kernel_size[0]
        patches = pixel_values.unfold(2, size, size).unfold(3, size, size)  # [B,C,rows,columns,size,size]
        pixels = patches.permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2)  # [B,P,C·size·size]
        x = F.linear(pixels, self.patches.weight.flatten(1), self.patches.bias)  # [B,P,E]: the convolution, written out
        first = self.cls_token.expand(len(x), -1, -1)  # [B,1,E]
        return torch.cat([first, x], dim=1) + self.positions  # [B,L,E]


class Attention(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.n_heads = c.n_heads
        self.q_proj = nn.Linear(c.d_model, c.d_model)
        self.k_proj = nn.Linear(c.d_model, c.d_model)
        self.v_proj = nn.Linear(c.d_model, c.d_model)
        self.o_proj = nn.Linear(c.d_model, c.d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,H,L,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> [B,L,E]"""
        q = self.split_heads(self.q_proj(x))  # [B,H,L,D]
        k = self.split_heads(self.k_proj(x))  # [B,H,L,D]
        v = self.split_heads(self.v_proj(x))  # [B,H,L,D]
        weights = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).softmax(-1)  # [B,H,L,L], each row sums to 1
        output = weights @ v  # [B,H,L,D]
        return self.o_proj(output.transpose(1, 2).flatten(2))  # [B,L,E]


class FeedForward(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.up = nn.Linear(c.d_model, c.d_ff)
        self.down = nn.Linear(c.d_ff, c.d_model)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        return self.down(F.gelu(self.up(x)))


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.attn = Attention(c)
        self.norm2 = nn.LayerNorm(c.d_model, c.eps)
        self.ff = FeedForward(c)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        x = x + self.attn(self.norm1(x))  # [B,L,E]
        return x + self.ff(self.norm2(x))


class Classifier(nn.Module):
    """Predicts the label of the image."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.classifier = nn.Linear(c.d_model, c.num_labels)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,L,E] -> logits [B,N]"""
        return self.classifier(x[:, 0])


class ViT(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = Embeddings(c)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.norm = nn.LayerNorm(c.d_model, c.eps)
        self.task_head = Classifier(c)

    def forward(self, pixel_values: Tensor) -> Tensor:
        """pixel_values [B,C,height,width] -> logits [B,N]"""
        x = self.embed(pixel_values)  # [B,L,E]
        for layer in self.layers:
            x = layer(x)  # [B,L,E]
        return self.task_head(self.norm(x))  # [B,N]


MODEL = ViT
