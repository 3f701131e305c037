"""CLIP (Radford et al. 2021, arXiv:2103.00020): pictures and texts become vectors that are close where they belong
together.

Parent   vit for the pictures, gpt2 for the texts (by idea)
Differs  two towers with nothing between them: a picture's vector is the class token's state, a text's is that of its
         end token, which a causal mask lets see the whole text; a matrix takes each to a common width; the score of a
         picture with a text is the cosine of both, times a learned factor. A norm before the picture's layers too, and
         a faster approximation of the GELU
Trained  objectives.in_batch_contrastive.pair_loss, with the texts of all other pictures in the batch as negatives. A
         picture is classified without training, by the nearest of the texts "a photo of a …"
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import FeedForward
from ..nn.feed_forward import get_activation
from ..nn.grouped_query import GroupedQueryAttention
from ..objectives.in_batch_contrastive import pair_loss
from . import _task_heads as task_heads
from ._base import LABEL_FIELDS, Model, TaskConfig, configuration, to_padding_mask
from ._checks import can_read_values, check_ids, check_max_length, check_positions, embed_ids
from ._output import Output
from .vit import check_pixels, interpolate_positions


@configuration
class Config(TaskConfig):
    """Fields of the text tower; those with `image` in their names are the image tower's."""

    vocab_size: int = 49408
    d_model: int = 512
    n_layers: int = 12
    n_heads: int = 8
    d_ff: int = 2048
    max_length: int = 77
    activation: str = "quick_gelu"
    attn_dropout: float = 0.0
    eps: float = 1e-5
    eos_token_id: int = 49407  # 2: as in the first files, the end of a text is the largest of its ids
    d_image: int = 768
    n_image_layers: int = 12
    n_image_heads: int = 12
    d_image_ff: int = 3072
    image_size: int = 224  # pixels in each direction
    patch_size: int = 32
    n_channels: int = 3
    image_activation: str = "quick_gelu"
    image_attn_dropout: float = 0.0
    image_eps: float = 1e-5
    d_projected: int = 512
    initial_scale: float = 2.6592  # the logarithm of the scores' first factor, 1/0.07


LARGE = {"d_model": 768, "n_heads": 12, "d_ff": 3072, "d_image": 1024, "n_image_layers": 24, "n_image_heads": 16}
LARGE |= {"d_image_ff": 4096, "patch_size": 14, "d_projected": 768}
PRESETS: dict[str, dict[str, Any]] = {
    "clip-vit-base-patch16": {"patch_size": 16},
    "clip-vit-base-patch32": {},
    "clip-vit-large-patch14": LARGE,
    "clip-vit-large-patch14-336": {**LARGE, "image_size": 336},
}
FIRST_FILES_EOS = 2


class TowerSizes(NamedTuple):
    """What the layers of the texts, or of the pictures, are made of."""

    d_model: int
    n_layers: int
    n_heads: int
    d_ff: int
    activation: str
    attn_dropout: float
    eps: float


def text_sizes(c: Config) -> TowerSizes:
    return TowerSizes(c.d_model, c.n_layers, c.n_heads, c.d_ff, c.activation, c.attn_dropout, c.eps)


def image_sizes(c: Config) -> TowerSizes:
    return TowerSizes(
        c.d_image,
        c.n_image_layers,
        c.n_image_heads,
        c.d_image_ff,
        c.image_activation,
        c.image_attn_dropout,
        c.image_eps,
    )


class Layer(nn.Module):
    """ViT's layer; that of the texts is causal."""

    def __init__(self, c: TowerSizes, causal: bool) -> None:
        super().__init__()
        self.depth = c.n_layers
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.attn = GroupedQueryAttention(
            c.d_model, c.n_heads, bias=True, out_bias=True, dropout=c.attn_dropout, causal=causal
        )
        self.norm2 = nn.LayerNorm(c.d_model, c.eps)
        self.ff = FeedForward(c.d_model, c.d_ff, get_activation(c.activation))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x [B,L,E], mask bool [B,1,1,L] or None -> [B,L,E]"""
        x = x + self.attn(self.norm1(x), mask=mask)
        return x + self.ff(self.norm2(x))

    def init_weights(self) -> None:
        """What adds to the residual stream starts smaller, the more layers there are."""
        width = self.norm1.weight.numel()
        inner = width**-0.5 * (2 * self.depth) ** -0.5
        for projection in (self.attn.q_proj, self.attn.k_proj, self.attn.v_proj, self.ff.down):
            nn.init.normal_(projection.weight, std=inner)
        nn.init.normal_(self.attn.o_proj.weight, std=width**-0.5)
        nn.init.normal_(self.ff.up.weight, std=(2 * width) ** -0.5)


class TextEmbeddings(nn.Module):
    """tokens [V,E] and positions [max_length,E]: embeddings of tokens, to which those of their positions are added."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(c.vocab_size, c.d_model), nn.Embedding(c.max_length, c.d_model)

    def forward(self, ids: Tensor, position_ids: Tensor | None) -> Tensor:
        """ids [B,L], position_ids [L] or [B,L], or None: as they stand -> [B,L,E]"""
        positions = torch.arange(ids.size(1), device=ids.device) if position_ids is None else position_ids
        return embed_ids(self.tokens, ids, "input_ids") + embed_ids(self.positions, positions, "position_ids")


class TextTower(nn.Module):
    """A decoder's layers, which only read. Raises ValueError if a text's end is outside the vocabulary."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        if c.eos_token_id != FIRST_FILES_EOS and not 0 <= c.eos_token_id < c.vocab_size:
            raise ValueError(f"eos_token_id={c.eos_token_id}: outside the vocabulary of vocab_size={c.vocab_size}")
        self.end = c.eos_token_id
        self.embed = TextEmbeddings(c)
        self.layers = nn.ModuleList(Layer(text_sizes(c), causal=True) for _ in range(c.n_layers))
        self.norm = nn.LayerNorm(c.d_model, c.eps)

    def hidden(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """x [B,L,E], embedded; mask bool [B,L] or None -> [B,L,E], before the last norm"""
        mask = None if mask is None else mask[:, None, None]  # one for all layers, which derive others from it once
        for layer in self.layers:
            x = layer(x, mask)
        return x

    def ends(self, ids: Tensor) -> Tensor:
        """ids [B,L] -> int64 [B], where each text ends: at its first eos_token_id. Raises ValueError if a text has
        none: what comes in its place, the first state, would be the same for all texts."""
        if self.end == FIRST_FILES_EOS:
            return ids.argmax(-1)
        is_end = ids == self.end
        if can_read_values(is_end) and not bool(is_end.any(-1).all()):
            row = int(is_end.any(-1).long().argmin())
            raise ValueError(
                f"input_ids: row {row} has no eos_token_id={self.end}, whose state is the text's vector: add it"
            )
        return is_end.int().argmax(-1)

    def forward(self, ids: Tensor, mask: Tensor | None = None, position_ids: Tensor | None = None) -> Output:
        """ids [B,L], mask bool [B,L], position_ids [L] or [B,L] -> last_hidden_state [B,L,E], pooler_output [B,E]"""
        states = self.norm(self.hidden(self.embed(ids, position_ids), mask))
        pooled = states[torch.arange(len(ids), device=ids.device), self.ends(ids)]
        return Output(last_hidden_state=states, pooler_output=pooled)


class ImageEmbeddings(nn.Module):
    """Patch embeddings after a class token, with position embeddings, as in ViT, but the patches' projection has no
    bias.

    Submodules patches: nn.Conv2d with non-overlapping windows, positions [1+P,E]. Parameter cls_token [E]. Raises
    ValueError if the picture is smaller than one patch.
    """

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.size, rows = (c.image_size, c.image_size), c.image_size // c.patch_size if c.patch_size > 0 else 0
        if rows < 1:
            raise ValueError(f"image_size={c.image_size}: must be at least patch_size={c.patch_size}, which is above 0")
        self.grid, self.patch = (rows, rows), (c.patch_size, c.patch_size)
        self.patches = nn.Conv2d(c.n_channels, c.d_image, c.patch_size, c.patch_size, bias=False)
        self.cls_token = nn.Parameter(torch.zeros(c.d_image))
        self.positions = nn.Embedding(1 + rows * rows, c.d_image)

    def forward(self, pixels: Tensor) -> Tensor:
        """pixels [B,C,H,W] -> [B,1+P,E]; positions are interpolated for another grid of patches"""
        x = self.patches(pixels)  # [B,E,rows,columns]
        positions = interpolate_positions(self.positions.weight[None], self.grid, (x.size(2), x.size(3)))
        first = self.cls_token.expand(len(x), 1, -1)  # [B,1,E]
        return torch.cat([first, x.flatten(2).transpose(1, 2)], dim=1) + positions


class ImageTower(nn.Module):
    """ViT, with a norm before the layers; the one after them is of the class token alone. Raises ValueError if the
    heads do not divide the width."""

    def __init__(self, c: Config) -> None:
        super().__init__()
        if c.d_image % c.n_image_heads:
            raise ValueError(f"n_image_heads={c.n_image_heads} does not divide d_image={c.d_image}")
        self.embed = ImageEmbeddings(c)
        self.norm_before = nn.LayerNorm(c.d_image, c.image_eps)
        self.layers = nn.ModuleList(Layer(image_sizes(c), causal=False) for _ in range(c.n_image_layers))
        self.norm = nn.LayerNorm(c.d_image, c.image_eps)

    def hidden(self, x: Tensor) -> Tensor:
        """x [B,1+P,E], embedded -> [B,1+P,E]"""
        for layer in self.layers:
            x = layer(x)
        return x

    def forward(self, pixels: Tensor) -> Output:
        """pixels [B,C,H,W] -> last_hidden_state [B,1+P,E], pooler_output [B,E]"""
        states = self.hidden(self.norm_before(self.embed(pixels)))
        return Output(last_hidden_state=states, pooler_output=self.norm(states[:, 0]))


class ContrastiveHead(nn.Module):
    """Both vectors of common width, and their scores."""

    TOWERS: ClassVar[tuple[str, ...]] = ("text", "image")
    TARGETS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.text_projection = nn.Linear(c.d_model, c.d_projected, bias=False)
        self.image_projection = nn.Linear(c.d_image, c.d_projected, bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(float(c.initial_scale)))

    def forward(self, text: Output, image: Output, return_loss: bool = False) -> dict[str, Any]:
        """text: last_hidden_state [T,L,E], pooler_output [T,E]; image: [I,1+P,E], [I,E] of its own width -> loss,
        logits_per_image [I,T], logits_per_text [T,I], text_embeds [T,P], image_embeds [I,P], and what the towers give,
        with pooler_output [T,P] and [I,P], projected. Raises ValueError for a loss of T != I."""
        text = Output({**text, "pooler_output": self.text_projection(text.pooler_output)})
        image = Output({**image, "pooler_output": self.image_projection(image.pooler_output)})
        texts, images = (F.normalize(found.pooler_output, dim=-1) for found in (text, image))
        scores = texts @ images.T * self.logit_scale.exp()  # [T,I]
        if return_loss and len(texts) != len(images):
            raise ValueError(
                f"return_loss: {len(texts)} texts, {len(images)} pictures: a loss is of pairs, in this order"
            )
        return {
            "loss": pair_loss(scores) if return_loss else None,
            "logits_per_image": scores.T,
            "logits_per_text": scores,
            "text_embeds": texts,
            "image_embeds": images,
            "text_model_output": text,
            "vision_model_output": image,
        }


class TextEncoder(nn.Module):
    """No head: the states of a text, and its end's."""

    TOWERS: ClassVar[tuple[str, ...]] = ("text",)
    TARGETS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, _c: Config) -> None:
        super().__init__()

    def forward(self, found: Output) -> dict[str, Any]:
        """found: of a tower -> the same: last_hidden_state [B,L,E], pooler_output [B,E]; of pictures L = 1+P"""
        return found


class ImageEncoder(TextEncoder):
    """No head: the states of a picture, and that of the class token after a norm."""

    TOWERS = ("image",)


class TextProjection(nn.Module):
    """The vector of a text, of common width, before it is normalised."""

    TOWERS: ClassVar[tuple[str, ...]] = ("text",)
    TARGETS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.text_projection = nn.Linear(c.d_model, c.d_projected, bias=False)

    def forward(self, found: Output) -> dict[str, Any]:
        """-> text_embeds [B,P], last_hidden_state [B,L,E]"""
        return {
            "text_embeds": self.text_projection(found.pooler_output),
            "last_hidden_state": found.last_hidden_state,
        }


class ImageProjection(nn.Module):
    """The vector of a picture, of common width, before it is normalised."""

    TOWERS: ClassVar[tuple[str, ...]] = ("image",)
    TARGETS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.image_projection = nn.Linear(c.d_image, c.d_projected, bias=False)

    def forward(self, found: Output) -> dict[str, Any]:
        """-> image_embeds [B,P], last_hidden_state [B,1+P,E]"""
        return {
            "image_embeds": self.image_projection(found.pooler_output),
            "last_hidden_state": found.last_hidden_state,
        }


class ImageClassification(nn.Module):
    """One label for the whole picture, from the mean of its patches."""

    TOWERS: ClassVar[tuple[str, ...]] = ("image",)
    TARGETS: ClassVar[tuple[str, ...]] = ("labels",)

    def __init__(self, c: Config) -> None:
        super().__init__()
        self.classifier, self.problem = nn.Linear(c.d_image, c.num_labels), c.problem_type

    def forward(self, found: Output, labels: Tensor | None = None) -> dict[str, Any]:
        """-> loss, logits [B,N]"""
        logits = self.classifier(found.last_hidden_state[:, 1:].mean(1))  # [B,N]
        loss = None if labels is None else task_heads.label_loss(logits, labels, self.problem)
        return {"loss": loss, "logits": logits}


class CLIP(Model):
    HEAD_CLASSES: ClassVar[dict[str | None, Any]] = {
        None: ContrastiveHead, "text_encoder": TextEncoder, "image_encoder": ImageEncoder,
        "text_projection": TextProjection, "image_projection": ImageProjection,
        "image_classification": ImageClassification,
    }  # fmt: skip
    HEADS = tuple(HEAD_CLASSES)
    NEEDED_IDS = ("eos_token_id",)

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        kind = self.HEAD_CLASSES[head]
        self.text = TextTower(config) if "text" in kind.TOWERS else None
        self.image = ImageTower(config) if "image" in kind.TOWERS else None
        self.task_head = kind(config)
        self.apply(self.init_weights)

    @torch.no_grad()
    def init_weights(self, module: nn.Module) -> None:
        """Initialises the weights: normal, with deviations by width and depth, and biases at zero."""
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding | nn.Conv2d):
            nn.init.normal_(module.weight, std=0.02)
        elif isinstance(module, ImageEmbeddings):
            nn.init.normal_(module.cls_token, std=module.cls_token.numel() ** -0.5)
        elif isinstance(module, Layer):
            module.init_weights()

    @property
    def names(self) -> NameMap:
        """The map of tensor names; in files of one tower its name stands before all of its tensors, or before none."""
        return MAPS[self.task_head.TOWERS]

    @property
    def heads_of_this_body(self) -> tuple[str | None, ...]:
        own = set(self.task_head.TOWERS)
        return tuple(head for head, kind in self.HEAD_CLASSES.items() if own <= set(kind.TOWERS))

    @property
    def endings(self) -> list[tuple[Any, str, str]]:
        """Where the last states of the towers come from; see `_transformers_arguments`."""
        return [(tower, "hidden", "") for tower in (self.text, self.image) if tower is not None]

    def name_states(self, states: dict[str, list[Tensor]], out: Output) -> dict[str, Any]:
        """Both towers' states are in what each of them gives, as in transformers."""
        return self.by_tower("hidden_states", states[""], self.config.n_layers + 1, out)

    def name_attentions(self, weights: dict[str, list[Tensor]], out: Output) -> dict[str, Any]:
        """As `name_states`."""
        return self.by_tower("attentions", weights.get("", []), self.config.n_layers, out)

    def by_tower(self, name: str, found: list[Tensor], of_text: int, out: Output) -> dict[str, Any]:
        """The outputs with what was found in the layers of the text, and then of the picture, under this name."""
        if self.text is None or self.image is None:
            return {name: tuple(found)}
        parts = {"text_model_output": found[:of_text], "vision_model_output": found[of_text:]}
        return {part: Output({**out[part], name: tuple(tensors)}) for part, tensors in parts.items()}

    def encode_text(
        self, input_ids: Tensor | None, attention_mask: Tensor | None, position_ids: Tensor | None
    ) -> Output:
        """The text tower's output, after checks of what it is given."""
        ids = check_ids("input_ids", input_ids)
        check_max_length(self.config, "input_ids", ids)
        if position_ids is not None:
            check_positions(position_ids, ids)
        assert self.text is not None
        found: Output = self.text(ids, to_padding_mask("attention_mask", attention_mask, ids.shape), position_ids)
        return found

    def encode_image(self, pixel_values: Tensor | None, interpolate: bool) -> Output:
        """The image tower's output, after checks of what it is given."""
        assert self.image is not None
        embed = self.image.embed
        pixels = check_pixels(pixel_values, self.config.n_channels, embed.size, embed.patch, interpolate)
        found: Output = self.image(pixels.to(embed.patches.weight.dtype))
        return found

    def check_inputs(self, **given: Any) -> None:
        """Raises TypeError for what this head does not read."""
        reads = {"text": ("input_ids", "attention_mask", "position_ids"), "image": ("pixel_values",)}
        known = {name for tower in self.task_head.TOWERS for name in reads[tower]}
        known |= {"return_loss"} if self.head is None else set()
        if unknown := [name for name, value in given.items() if value is not None and name not in known]:
            raise TypeError(f"{', '.join(unknown)}: head {self.head!r} reads {', '.join(sorted(known))}")

    def get_text_features(
        self, input_ids: Tensor | None, attention_mask: Tensor | None = None, position_ids: Tensor | None = None
    ) -> Output:
        """The texts alone, of the model with both towers or of head "text_projection": input_ids, attention_mask [B,L],
        position_ids [L] or [B,L] -> last_hidden_state [B,L,E], pooler_output [B,P], the vectors of common width before
        they are normalised."""
        self.require_projection("text_projection", "get_text_features")
        found = self.encode_text(input_ids, attention_mask, position_ids)
        return Output({**found, "pooler_output": self.task_head.text_projection(found.pooler_output)})

    def get_image_features(self, pixel_values: Tensor | None, interpolate_pos_encoding: bool = False) -> Output:
        """The same of pictures, pixel_values [B,C,H,W] -> last_hidden_state [B,1+P,E], pooler_output [B,P]"""
        self.require_projection("image_projection", "get_image_features")
        found = self.encode_image(pixel_values, bool(interpolate_pos_encoding))
        return Output({**found, "pooler_output": self.task_head.image_projection(found.pooler_output)})

    def require_projection(self, name: str, method: str) -> None:
        """Raises ValueError if the head does not have it."""
        if not hasattr(self.task_head, name):
            raise ValueError(f"{method} needs the whole model, without a head, or head {name!r}; this is {self.head!r}")

    def forward(
        self,
        input_ids: Tensor | None = None,
        pixel_values: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        return_loss: bool | None = None,
        labels: Tensor | None = None,
        *,
        interpolate_pos_encoding: bool = False,
    ) -> Output:
        """input_ids, attention_mask [T,L], position_ids [L] or [T,L]; pixel_values [I,C,H,W]; return_loss: of T = I
        pairs; labels [I]; interpolate_pos_encoding: accept pictures of another size -> Output: loss, logits_per_image
        [I,T], logits_per_text [T,I], text_embeds [T,P], image_embeds [I,P], text_model_output, vision_model_output; of
        a tower: last_hidden_state, pooler_output or text_embeds or image_embeds; or logits [I,N]. Raises ValueError or
        TypeError for invalid inputs, and for those that the head does not read."""
        targets: dict[str, Any] = self.check_targets({"labels": labels})
        of_text = {"input_ids": input_ids, "attention_mask": attention_mask, "position_ids": position_ids}
        if return_loss is not None and not isinstance(return_loss, bool):
            raise TypeError(f"return_loss={return_loss!r}: must be True, False or None")
        self.check_inputs(**of_text, pixel_values=pixel_values, return_loss=return_loss or None)
        found = [] if self.text is None else [self.encode_text(**of_text)]
        found += [] if self.image is None else [self.encode_image(pixel_values, bool(interpolate_pos_encoding))]
        if self.head is None:
            targets["return_loss"] = bool(return_loss)
        return Output(self.task_head(*found, **targets))


MODEL = CLIP
LAYERS = {
    "encoder.layers.{}.layer_norm1": "layers.{}.norm1",
    **{f"encoder.layers.{{}}.self_attn.{x}_proj": f"layers.{{}}.attn.{x}_proj" for x in "qkv"},
    "encoder.layers.{}.self_attn.out_proj": "layers.{}.attn.o_proj",
    "encoder.layers.{}.layer_norm2": "layers.{}.norm2",
    "encoder.layers.{}.mlp.fc1": "layers.{}.ff.up",
    "encoder.layers.{}.mlp.fc2": "layers.{}.ff.down",
}
OF_TEXT = {
    "embeddings.token_embedding": "embed.tokens", "embeddings.position_embedding": "embed.positions", **LAYERS,
    "final_layer_norm": "norm",
}  # fmt: skip
OF_IMAGE = {
    "embeddings.class_embedding": "embed.cls_token", "embeddings.patch_embedding": "embed.patches",
    "embeddings.position_embedding": "embed.positions", "pre_layrnorm": "norm_before", **LAYERS,
    "post_layernorm": "norm",
}  # fmt: skip
OF_HEADS = {
    "text_projection": "task_head.text_projection", "visual_projection": "task_head.image_projection",
    "logit_scale": "task_head.logit_scale", "classifier": "task_head.classifier",
}  # fmt: skip
CONSTANT = (r"((text|vision)_model\.)?embeddings\.position_ids",)


def under(published: str, local: str, table: dict[str, str]) -> dict[str, str]:
    """The rows of a tower, with its name in front of each."""
    return {f"{published}{theirs}": f"{local}.{ours}" for theirs, ours in table.items()}


TEXT, IMAGE = under("text_model.", "text", OF_TEXT), under("vision_model.", "image", OF_IMAGE)
HF = NameMap({**TEXT, **IMAGE, **OF_HEADS}, constant=CONSTANT)
MAPS: dict[tuple[str, ...], NameMap] = {
    ("text", "image"): HF,
    ("text",): NameMap(
        under("", "text", OF_TEXT), prefix="text_model.", heads={**IMAGE, **OF_HEADS}, constant=CONSTANT
    ),
    ("image",): NameMap(
        under("", "image", OF_IMAGE), prefix="vision_model.", heads={**TEXT, **OF_HEADS}, constant=CONSTANT
    ),
}
HF_HEADS = {
    "CLIPModel": None, "CLIPTextModel": "text_encoder", "CLIPVisionModel": "image_encoder",
    "CLIPTextModelWithProjection": "text_projection", "CLIPVisionModelWithProjection": "image_projection",
    "CLIPForImageClassification": "image_classification",
}  # fmt: skip
SECTIONS = {"text_config": "clip_text_model", "vision_config": "clip_vision_model"}
SECTION_OF_CLASS = {
    "CLIPTextModel": "text_config", "CLIPTextModelWithProjection": "text_config", "CLIPVisionModel": "vision_config",
    "CLIPVisionModelWithProjection": "vision_config",
}  # fmt: skip
HF_FIELDS = {
    "text_config.vocab_size": "vocab_size", "text_config.hidden_size": "d_model",
    "text_config.num_hidden_layers": "n_layers", "text_config.num_attention_heads": "n_heads",
    "text_config.intermediate_size": "d_ff", "text_config.max_position_embeddings": "max_length",
    "text_config.hidden_act": "activation", "text_config.attention_dropout": "attn_dropout",
    "text_config.layer_norm_eps": "eps", "text_config.eos_token_id": "eos_token_id",
    "vision_config.hidden_size": "d_image", "vision_config.num_hidden_layers": "n_image_layers",
    "vision_config.num_attention_heads": "n_image_heads", "vision_config.intermediate_size": "d_image_ff",
    "vision_config.image_size": "image_size", "vision_config.patch_size": "patch_size",
    "vision_config.num_channels": "n_channels", "vision_config.hidden_act": "image_activation",
    "vision_config.attention_dropout": "image_attn_dropout", "vision_config.layer_norm_eps": "image_eps",
    "projection_dim": "d_projected", "logit_scale_init_value": "initial_scale", **LABEL_FIELDS,
}  # fmt: skip
HF_FIXED: dict[str, Any] = {}
IDLE = {"initializer_range", "initializer_factor", "tie_word_embeddings"}  # no head scores words
HF_UNUSED = IDLE | {  # `dropout` of the first files is read by nobody
    f"{section}.{name}"
    for section in SECTIONS
    for name in (*IDLE, "bos_token_id", "pad_token_id", "eos_token_id", "dropout")
}


def from_hf_fields(config_dict: dict[str, Any]) -> dict[str, Any]:
    """The fields of both towers under one roof. What describes one tower alone becomes its section."""
    found = dict(config_dict)
    name = (found.get("architectures") or [""])[0]
    sections = {section: pop_section(section, found) for section in SECTIONS}
    if not any(sections.values()) and (alone := section_of(name, found)):
        outside = ("architectures", "projection_dim", *LABEL_FIELDS)
        sections[alone] = {field: value for field, value in found.items() if field not in outside}
        found = {field: value for field, value in found.items() if field in outside}
        found["architectures"] = [name or next(cls for cls, section in SECTION_OF_CLASS.items() if section == alone)]
    for section, fields in sections.items():
        fields.pop("projection_dim", None), fields.pop("model_type", None)  # the whole model's decides
        found |= {f"{section}.{field}": value for field, value in fields.items()}
    return found


def pop_section(section: str, found: dict[str, Any]) -> dict[str, Any]:
    """The fields of a tower, which are taken out of what was found. `…_config_dict`, as files of 2021 have it beside a
    section, says all of it: what it leaves out has its default, whatever the section says, as in transformers."""
    fields = dict(found.pop(section, None) or {})
    described = found.pop(f"{section}_dict", None)
    if described is None:
        return fields
    return {name: value for name, value in fields.items() if f"{section}.{name}" not in HF_FIELDS} | described


def section_of(name: str, fields: dict[str, Any]) -> str | None:
    """Which tower a configuration without sections describes, by the class that it names or by its fields."""
    by_fields = {"vocab_size": "text_config", "patch_size": "vision_config", "image_size": "vision_config"}
    of_fields = next((section for field, section in by_fields.items() if field in fields), None)
    return SECTION_OF_CLASS.get(name, of_fields)


def nest_hf_fields(config_dict: dict[str, Any]) -> dict[str, Any]:
    """The inverse of `from_hf_fields`."""
    found = {field: value for field, value in config_dict.items() if "." not in field}
    width = {"projection_dim": found["projection_dim"]}
    sections: dict[str, dict[str, Any]] = {name: {"model_type": kind, **width} for name, kind in SECTIONS.items()}
    for field, value in config_dict.items():
        section, _, name = field.rpartition(".")
        if section:
            sections[section][name] = value
    if alone := SECTION_OF_CLASS.get(found["architectures"][0]):
        del found["logit_scale_init_value"]
        return {**found, **sections[alone]}
    return {**found, **sections}
