"""CLIP (Radford et al. 2021, arXiv:2103.00020): pictures and texts become vectors that are close where they belong
together.

Adds to ViT: a second tower that reads texts from left to right; a matrix for each tower to a common width; cosines,
times a learned factor, as scores of pictures with texts. A norm before the picture's layers, the one after them for the
class token alone, and x · sigmoid(1.702 x) in place of the GELU. The factor is learned as a logarithm.

Shapes: B pairs, L tokens, C = n_channels, P patches, N = L or 1 + P, E = d_model or d_image, H heads, D = E / H,
J = d_projected.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 49408
    d_model: int = 512
    n_layers: int = 12
    n_heads: int = 8
    d_ff: int = 2048
    max_length: int = 77
    d_image: int = 768
    n_image_layers: int = 12
    n_image_heads: int = 12
    d_image_ff: int = 3072
    image_size: int = 224
    patch_size: int = 32
    n_channels: int = 3
    d_projected: int = 512
    initial_scale: float = 2.6592
    eps: float = 1e-5


class Attention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, causal: bool) -> None:
        super().__init__()
        self.n_heads, self.causal = n_heads, causal
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        """[B,N,E] -> [B,H,N,D]"""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        """x [B,N,E] -> [B,N,E]"""
        q = self.split_heads(self.q_proj(x))  # [B,H,N,D]
        k = self.split_heads(self.k_proj(x))  # [B,H,N,D]
        v = self.split_heads(self.v_proj(x))  # [B,H,N,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,N,N]
        if self.causal:
            visible = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).tril()  # [N,N]
            scores = scores.masked_fill(~visible, -math.inf)
        weights = scores.softmax(-1)  # [B,H,N,N], each row sums to 1
        output = weights @ v  # [B,H,N,D]
        return self.o_proj(output.transpose(1, 2).flatten(2))  # [B,N,E]


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """[B,N,E] -> [B,N,E]"""
        inner = self.up(x)  # [B,N,d_ff]
        return self.down(inner * torch.sigmoid(1.702 * inner))


class Layer(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, eps: float, causal: bool) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model, eps)
        self.attn = Attention(d_model, n_heads, causal)
        self.norm2 = nn.LayerNorm(d_model, eps)
        self.ff = FeedForward(d_model, d_ff)

    def forward(self, x: Tensor) -> Tensor:
        """[B,N,E] -> [B,N,E]"""
        x = x + self.attn(self.norm1(x))  # [B,N,E]
        return x + self.ff(self.norm2(x))


class TextEmbeddings(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.tokens = nn.Embedding(c.vocab_size, c.d_model)
        self.positions = nn.Embedding(c.max_length, c.d_model)

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> [B,L,E]"""
        return self.tokens(input_ids) + self.positions(torch.arange(input_ids.size(1), device=input_ids.device))


class TextTower(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = TextEmbeddings(c)
        self.layers = nn.ModuleList(Layer(c.d_model, c.n_heads, c.d_ff, c.eps, True) for _ in range(c.n_layers))
        self.norm = nn.LayerNorm(c.d_model, c.eps)

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids [B,L] -> [B,E]"""
        x = self.embed(input_ids)  # [B,L,E]
        for layer in self.layers:
            x = layer(x)  # [B,L,E]
        ends = input_ids.argmax(-1)  # [B]: the end token has the largest id; what follows it is not seen from there
        return self.norm(x)[torch.arange(len(x), device=x.device), ends]


class ImageEmbeddings(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.patches = nn.Conv2d(c.n_channels, c.d_image, kernel_size=c.patch_size, stride=c.patch_size, bias=False)
        self.cls_token = nn.Parameter(torch.zeros(c.d_image))
        self.positions = nn.Embedding(1 + (c.image_size // c.patch_size) ** 2, c.d_image)

    def forward(self, pixel_values: Tensor) -> Tensor:
        """pixel_values [B,C,height,width] -> [B,1+P,E]"""
        x = self.patches(pixel_values).flatten(2).transpose(1, 2)  # [B,P,E]
        first = self.cls_token.expand(len(x), 1, -1)  # [B,1,E]
        return torch.cat([first, x], dim=1) + self.positions.weight


class ImageTower(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = ImageEmbeddings(c)
        self.norm_before = nn.LayerNorm(c.d_image, c.eps)
        sizes = (c.d_image, c.n_image_heads, c.d_image_ff, c.eps)
        self.layers = nn.ModuleList(Layer(*sizes, False) for _ in range(c.n_image_layers))
        self.norm = nn.LayerNorm(c.d_image, c.eps)

    def forward(self, pixel_values: Tensor) -> Tensor:
        """pixel_values [B,C,height,width] -> [B,E]"""
        x = self.norm_before(self.embed(pixel_values))  # [B,1+P,E]
        for layer in self.layers:
            x = layer(x)  # [B,1+P,E]
        return self.norm(x[:, 0])


class ContrastiveHead(nn.Module):
    """Scores of all texts with all pictures."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.text_projection = nn.Linear(c.d_model, c.d_projected, bias=False)
        self.image_projection = nn.Linear(c.d_image, c.d_projected, bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(c.initial_scale))

    def forward(self, texts: Tensor, images: Tensor) -> Tensor:
        """texts [B,E], images [B,E], of other widths -> logits [B,B], a row for each text"""
        texts = F.normalize(self.text_projection(texts), dim=-1)  # [B,J], of length 1
        images = F.normalize(self.image_projection(images), dim=-1)  # [B,J]
        return texts @ images.T * self.logit_scale.exp()


class CLIP(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.text, self.image, self.task_head = TextTower(c), ImageTower(c), ContrastiveHead(c)

    def forward(self, input_ids: Tensor, pixel_values: Tensor) -> Tensor:
        """input_ids [B,L], pixel_values [B,C,height,width] -> logits [B,B], a row for each text"""
        return self.task_head(self.text(input_ids), self.image(pixel_values))


MODEL = CLIP
