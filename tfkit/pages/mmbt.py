"""MMBT (Kiela et al. 2019, arXiv:1909.02950): image regions become tokens through a learned projection.

Adds to BERT: the first tokens are regions of a picture: [CLS], an image encoder's vector for each, [SEP]; then comes
the text, as a second segment whose positions restart at 0. The same layers read both, and a classifier reads the first
state.
Left out: the image encoder, a ResNet whose last feature map is cut into regions; this page begins with those.

Shapes: B pairs of a picture and a text, R regions, S tokens, L = R + 2 + S, E = d_model, H = n_heads, D = E / H, M =
modal_hidden_size, C = num_labels.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 30522
    d_model: int = 768
    n_layers: int = 12
    n_heads: int = 12
    d_ff: int = 3072
    max_length: int = 512
    n_types: int = 2
    eps: float = 1e-12
    pad_token_id: int = 0
    modal_hidden_size: int = 2048
    num_labels: int = 2


class Embeddings(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.tokens = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.positions = nn.Embedding(c.max_length, c.d_model)
        self.types = nn.Embedding(c.n_types, c.d_model)
        self.norm = nn.LayerNorm(c.d_model, c.eps)

    def forward(self, x: Tensor, token_type: int) -> Tensor:
        """x [B,L,E]: tokens, or regions of a picture; token_type: 0 of a picture, 1 of a text -> [B,L,E]"""
        position_ids = torch.arange(x.size(1))  # [L], from 0 for the image and again for the text
        return self.norm(x + self.positions(position_ids) + self.types.weight[token_type])  # [B,L,E]


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

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x [B,L,E], mask bool [B,1,1,L], True where a token may be attended to -> [B,L,E]"""
        q = self.split_heads(self.q_proj(x))  # [B,H,L,D]
        k = self.split_heads(self.k_proj(x))  # [B,H,L,D]
        v = self.split_heads(self.v_proj(x))  # [B,H,L,D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B,H,L,L]
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)  # [B,H,L,L], each row sums to 1
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
        self.attn = Attention(c)
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.ff = FeedForward(c)
        self.norm2 = nn.LayerNorm(c.d_model, c.eps)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x [B,L,E], mask bool [B,1,1,L] -> [B,L,E]"""
        x = self.norm1(x + self.attn(x, mask))  # [B,L,E]
        return self.norm2(x + self.ff(x))


class Text(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.embed = Embeddings(c)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.pooler = nn.Linear(c.d_model, c.d_model)


class MMBT(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.text = Text(c)
        self.project = nn.Linear(c.modal_hidden_size, c.d_model)  # from image features to embeddings
        self.task_head = nn.ModuleDict({"classifier": nn.Linear(c.d_model, c.num_labels)})

    def forward(
        self, input_modal: Tensor, input_ids: Tensor, attention_mask: Tensor, modal_start_tokens: Tensor,
        modal_end_tokens: Tensor,
    ) -> Tensor:  # fmt: skip
        """input_modal [B,R,M]: regions of a picture; input_ids, attention_mask [B,S]: the text, 1 = token, 0 = padding;
        modal_start_tokens, modal_end_tokens [B]: [CLS] and [SEP] -> logits [B,C]"""
        embed = self.text.embed
        start = embed.tokens(modal_start_tokens)[:, None]  # [B,1,E]
        end = embed.tokens(modal_end_tokens)[:, None]  # [B,1,E]
        picture = embed(torch.cat([start, self.project(input_modal), end], dim=1), 0)  # [B,R+2,E]
        x = torch.cat([picture, embed(embed.tokens(input_ids), 1)], dim=1)  # [B,L,E]
        mask = F.pad(attention_mask.bool(), (picture.size(1), 0), value=True)[:, None, None]  # [B,1,1,L]
        for layer in self.text.layers:
            x = layer(x, mask)  # [B,L,E]
        return self.task_head["classifier"](torch.tanh(self.text.pooler(x[:, 0])))  # [B,C]


MODEL = MMBT
