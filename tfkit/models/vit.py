"""ViT (Dosovitskiy et al. 2020, arXiv:2010.11929): patches of an image are read like the tokens of a text.

Parent   bert (by idea)
Differs  linear embeddings of pixel patches; pre-norm with a final norm; no padding; positions are interpolated for
         images larger than those in training
Trained  on the labels of ImageNet-21k; head "masked_image" (SimMIM, Xie et al. 2021, arXiv:2111.09886) needs no labels
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import Dropout, FeedForward
from ..nn.feed_forward import get_activation
from ..nn.grouped_query import GroupedQueryAttention
from . import _task_heads as task_heads
from ._base import LABEL_FIELDS, Model, TaskConfig, configuration
from ._checks import require_tensor
from ._output import Output


@configuration
class Config(TaskConfig):
    d_model: int = 768
    n_layers: int = 12
    n_heads: int = 12
    d_ff: int = 3072
    image_size: int | list[int] | tuple[int, int] = 224  # one number, or height and width
    patch_size: int | list[int] | tuple[int, int] = 16
    n_channels: int = 3
    stride: int = 16  # head "masked_image": pixels per patch in each direction
    activation: str = "gelu"
    dropout: float = 0.0
    attn_dropout: float = 0.0
    attn_bias: bool = True  # of queries, keys and values
    d_pooled: int | None = None  # default d_model
    pooler_activation: str = "tanh"
    eps: float = 1e-12


LARGE = {"d_model": 1024, "n_layers": 24, "n_heads": 16, "d_ff": 4096}
PRESETS: dict[str, dict[str, Any]] = {
    "vit-base-patch16-224": {"num_labels": 1000},
    "vit-base-patch16-224-in21k": {},
    "vit-base-patch16-384": {"num_labels": 1000, "image_size": 384},
    "vit-large-patch16-224": {"num_labels": 1000, **LARGE},
    "vit-huge-patch14-224-in21k": {"d_model": 1280, "n_layers": 32, "n_heads": 16, "d_ff": 5120, "patch_size": 14},
}


def to_pair(size: int | list[int] | tuple[int, int]) -> tuple[int, int]:
    """Height and width, from one number or a pair."""
    return (size, size) if isinstance(size, int) else (size[0], size[1])


def check_pixels(
    pixels: Tensor | None, channels: int, size: tuple[int, int], patch: tuple[int, int], interpolate: bool
) -> Tensor:
    """pixels [B,C,H,W], if their positions have this height and width, or may be interpolated. Raises ValueError for an
    invalid shape, TypeError for anything but a tensor."""
    if pixels is None:
        raise ValueError("pixel_values is missing")
    require_tensor("pixel_values", pixels)
    if not pixels.is_floating_point() or pixels.dim() != 4 or pixels.size(1) != channels:
        found = f"{pixels.dtype} {list(pixels.shape)}"
        raise ValueError(f"pixel_values must be floats [B,{channels},H,W]; got {found}")
    if not interpolate and tuple(pixels.shape[2:]) != size:
        raise ValueError(
            f"pixel_values are {pixels.size(2)} by {pixels.size(3)}, the positions are for {size[0]} by {size[1]}: "
            "interpolate_pos_encoding=True stretches them"
        )
    if pixels.size(2) < patch[0] or pixels.size(3) < patch[1]:
        raise ValueError(
            f"pixel_values are {pixels.size(2)} by {pixels.size(3)}, smaller than a patch of {patch[0]} by {patch[1]}"
        )
    return pixels


def interpolate_positions(positions: Tensor, old: tuple[int, int], new: tuple[int, int]) -> Tensor:
    """Position embeddings [1,1+P,E] of a class token and a grid of rows and columns, interpolated to another grid
    -> [1,1+rows·columns,E]"""
    if new == old:
        return positions
    first, rest = positions[:, :1], positions[:, 1:]
    rest = rest.unflatten(1, old).permute(0, 3, 1, 2)  # [1,E,rows,columns]
    rest = F.interpolate(rest, size=new, mode="bicubic", align_corners=False)
    return torch.cat([first, rest.flatten(2).transpose(1, 2)], dim=1)


class Embeddings(nn.Module):
    """Patch embeddings after a class token, with position embeddings.

    Submodule patches: nn.Conv2d with non-overlapping windows. Parameters first [1,1,E], positions [1,1+P,E] and, if
    patches can be masked, blank [1,1,E]. Raises ValueError if the image is smaller than one patch.
    """

    def __init__(self, c: Config, hiding: bool) -> None:
        super().__init__()
        self.size, self.patch = to_pair(c.image_size), to_pair(c.patch_size)
        self.grid = (self.size[0] // self.patch[0], self.size[1] // self.patch[1])
        if not all(self.grid):
            raise ValueError(f"image_size={c.image_size!r}: must be at least patch_size={c.patch_size!r}")
        self.patches = nn.Conv2d(c.n_channels, c.d_model, self.patch, self.patch)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, c.d_model))
        self.positions = nn.Parameter(torch.zeros(1, 1 + self.grid[0] * self.grid[1], c.d_model))
        self.mask_token = nn.Parameter(torch.zeros(1, 1, c.d_model)) if hiding else None
        self.drop = Dropout(c.dropout)

    def forward(self, pixels: Tensor, hidden: Tensor | None, interpolate: bool) -> Tensor:
        """pixels [B,C,H,W], hidden bool [B,P] or None -> [B,1+P,E]"""
        x = self.patches(pixels)  # [B,E,rows,columns]
        grid = (x.size(2), x.size(3))
        x = x.flatten(2).transpose(1, 2)  # [B,P,E]
        if hidden is not None and self.mask_token is not None:
            if hidden.shape != x.shape[:2]:
                raise ValueError(
                    f"bool_masked_pos has shape {list(hidden.shape)}, the patches have {list(x.shape[:2])}"
                )
            x = torch.where(hidden.bool()[..., None], self.mask_token, x)
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1)
        return self.drop(
            x + (interpolate_positions(self.positions, self.grid, grid) if interpolate else self.positions)
        )


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.attn = GroupedQueryAttention(
            c.d_model, c.n_heads, bias=c.attn_bias, out_bias=True, dropout=c.attn_dropout, causal=False
        )
        self.norm2 = nn.LayerNorm(c.d_model, c.eps)
        self.ff, self.drop = FeedForward(c.d_model, c.d_ff, get_activation(c.activation)), Dropout(c.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """[B,L,E] -> [B,L,E]"""
        x = x + self.drop(self.attn(self.norm1(x)))
        return x + self.drop(self.ff(self.norm2(x)))


class HeadInputs(NamedTuple):
    """A head's inputs: states [B,1+P,E], the pixels [B,C,H,W] and the grid of the patches."""

    states: Tensor
    pixels: Tensor
    grid: tuple[int, int]


class NoHead(nn.Module):
    """No head: the states, and the pooled class token."""

    TARGETS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.pooler, self.activation = (
            nn.Linear(c.d_model, c.d_pooled or c.d_model),
            get_activation(c.pooler_activation),
        )

    def forward(self, inputs: HeadInputs) -> dict[str, Any]:
        return {"last_hidden_state": inputs.states, "pooler_output": self.activation(self.pooler(inputs.states[:, 0]))}


class ImageClassificationHead(nn.Module):
    """One label for the whole image, from the class token."""

    TARGETS: ClassVar[tuple[str, ...]] = ("labels",)

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.classifier, self.problem = nn.Linear(c.d_model, c.num_labels), c.problem_type

    def forward(self, inputs: HeadInputs, labels: Tensor | None = None) -> dict[str, Any]:
        logits = self.classifier(inputs.states[:, 0])  # [B,N]
        loss = None if labels is None else task_heads.label_loss(logits, labels, self.problem)
        return {"loss": loss, "logits": logits, "last_hidden_state": inputs.states}


class MaskedImageHead(nn.Module):
    """Reconstructs masked patches, each by one matrix; the loss counts only the pixels of masked patches."""

    TARGETS: ClassVar[tuple[str, ...]] = ("bool_masked_pos",)

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.draw = nn.Conv2d(c.d_model, c.stride**2 * c.n_channels, 1)
        self.stride, self.patch = c.stride, to_pair(c.patch_size)

    def forward(self, inputs: HeadInputs, bool_masked_pos: Tensor | None = None) -> dict[str, Any]:
        patches = inputs.states[:, 1:].transpose(1, 2).unflatten(2, inputs.grid)  # [B,E,rows,columns]
        drawn = F.pixel_shuffle(self.draw(patches), self.stride)  # [B,C,H,W]
        loss = None
        if bool_masked_pos is not None:
            if self.patch != (self.stride, self.stride):
                raise ValueError(f"a loss needs stride={self.stride} to be the patch's size, which is {self.patch}")
            hidden = bool_masked_pos.to(drawn.dtype).unflatten(1, inputs.grid)[:, None]
            hidden = hidden.repeat_interleave(self.stride, 2).repeat_interleave(self.stride, 3)  # [B,1,H,W]
            loss = ((inputs.pixels - drawn).abs() * hidden).sum() / (hidden.sum() + 1e-5) / inputs.pixels.size(1)
        return {"loss": loss, "reconstruction": drawn, "last_hidden_state": inputs.states}


class ViT(Model):
    HEAD_CLASSES: ClassVar[dict[str | None, Any]] = {
        None: NoHead, "image_classification": ImageClassificationHead, "masked_image": MaskedImageHead,
    }  # fmt: skip
    HEADS = tuple(HEAD_CLASSES)

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        self.embed = Embeddings(config, hiding=head == "masked_image")
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model, config.eps)
        self.task_head = self.HEAD_CLASSES[head](config)
        self.apply(self.init_weights)

    def init_weights(self, module: nn.Module) -> None:
        """Initialises the weights: truncated normal, with biases at zero."""
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            nn.init.trunc_normal_(module.weight, std=0.02)
        if isinstance(module, (nn.Linear, nn.Conv2d)) and module.bias is not None:
            nn.init.zeros_(module.bias)
        if isinstance(module, Embeddings):
            nn.init.trunc_normal_(module.cls_token, std=0.02)
            nn.init.trunc_normal_(module.positions, std=0.02)

    def hidden(self, x: Tensor) -> Tensor:
        """x [B,1+P,E], embedded -> [B,1+P,E], before the last norm"""
        for layer in self.layers:
            x = layer(x)
        return x

    def forward(
        self,
        pixel_values: Tensor | None = None,
        labels: Tensor | None = None,
        bool_masked_pos: Tensor | None = None,
        *,
        interpolate_pos_encoding: bool = False,
    ) -> Output:
        """pixel_values [B,C,H,W]; labels [B]; bool_masked_pos bool [B,P], True at masked patches, whose pixels are the
        target; interpolate_pos_encoding: accept images of another size -> Output: loss, logits [B,N], last_hidden_state
        [B,1+P,E], pooler_output [B,E], reconstruction [B,C,H,W]. Raises ValueError or TypeError for invalid inputs."""
        targets = self.check_targets({"labels": labels, "bool_masked_pos": bool_masked_pos})
        interpolate = bool(interpolate_pos_encoding)
        pixels = check_pixels(pixel_values, self.config.n_channels, self.embed.size, self.embed.patch, interpolate)
        pixels = pixels.to(self.embed.patches.weight.dtype)
        x = self.embed(pixels, bool_masked_pos, interpolate)
        x = self.hidden(x)
        grid = (pixels.size(2) // self.embed.patch[0], pixels.size(3) // self.embed.patch[1])
        return Output(self.task_head(HeadInputs(self.norm(x), pixels, grid), **targets))


MODEL = ViT
HF = NameMap(
    {
        "embeddings.cls_token": "embed.cls_token",
        "embeddings.mask_token": "embed.mask_token",
        "embeddings.position_embeddings": "embed.positions",
        "embeddings.patch_embeddings.projection": "embed.patches",
        "encoder.layer.{}.layernorm_before": "layers.{}.norm1",
        "encoder.layer.{}.attention.attention.query": "layers.{}.attn.q_proj",
        "encoder.layer.{}.attention.attention.key": "layers.{}.attn.k_proj",
        "encoder.layer.{}.attention.attention.value": "layers.{}.attn.v_proj",
        "encoder.layer.{}.attention.output.dense": "layers.{}.attn.o_proj",
        "encoder.layer.{}.layernorm_after": "layers.{}.norm2",
        "encoder.layer.{}.intermediate.dense": "layers.{}.ff.up",
        "encoder.layer.{}.output.dense": "layers.{}.ff.down",
        "layernorm": "norm",
        "pooler.dense": "task_head.pooler",
    },
    prefix="vit.",
    heads={"classifier": "task_head.classifier", "decoder.0": "task_head.draw"},
)
HF_HEADS = {
    "ViTModel": None, "ViTForImageClassification": "image_classification", "ViTForMaskedImageModeling": "masked_image",
}  # fmt: skip
HF_FIELDS = {
    "hidden_size": "d_model", "num_hidden_layers": "n_layers", "num_attention_heads": "n_heads",
    "intermediate_size": "d_ff", "hidden_act": "activation", "hidden_dropout_prob": "dropout",
    "attention_probs_dropout_prob": "attn_dropout", "layer_norm_eps": "eps", "image_size": "image_size",
    "patch_size": "patch_size", "num_channels": "n_channels", "qkv_bias": "attn_bias", "encoder_stride": "stride",
    "pooler_output_size": "d_pooled", "pooler_act": "pooler_activation", **LABEL_FIELDS,
}  # fmt: skip
HF_FIXED: dict[str, Any] = {}
HF_UNUSED = {"initializer_range"}
