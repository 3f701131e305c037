"""Funnel-Transformer (Dai et al. 2020, arXiv:2006.03236): layers that shorten the sequence by pooling.

Parent   bert (by idea)
Differs  layers are grouped in blocks; before each block but the first, pairs of neighbours are pooled into one (the
         first token stays separate: `separate_cls`), at first only in the queries, so that the shorter sequence attends
         to the longer one; a decoder repeats the last states to the full length, adds those of the first block, and
         runs a few more layers (not for heads that read one vector, nor for "base"). Positions are relative distances,
         as sinusoids; sentence types: the same or another. `attention_type` "factorized" computes the same scores in
         another order, with other random numbers in dropout.
Trained  replaced-token detection, as ELECTRA, or masked language modelling
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import Dropout, FeedForward, distance_windows
from ..nn.feed_forward import get_activation
from ..nn.pooled_attention import PooledAttention, PoolingContext
from ..nn.relative_attention import sinusoidal_distances
from . import _base, bert
from . import _task_heads as task_heads
from ._base import (
    LABEL_FIELDS,
    TIED_FIELDS,
    Model,
    TaskConfig,
    add_head,
    configuration,
    encoder_inputs,
    normal_init,
    with_head,
)
from ._checks import embed_ids
from ._output import Output

CLS = 2  # the sentence type of the first token, which belongs to both sentences


@configuration
class Config(TaskConfig):
    vocab_size: int = 30522
    block_sizes: Sequence[int] = (4, 4, 4)
    block_repeats: Sequence[int] | None = None  # default: each layer runs once
    n_decoder_layers: int = 2
    d_model: int = 768
    n_heads: int = 12
    d_head: int = 64
    d_ff: int = 3072
    activation: str = "gelu_new"
    dropout: float = 0.1
    attn_dropout: float = 0.1
    ff_dropout: float = 0.0
    head_dropout: float | None = None
    eps: float = 1e-9
    pooling_type: str = "mean"  # or "max"
    attention_type: str = "relative_shift"
    separate_cls: bool = True
    truncate_seq: bool = True
    pool_q_only: bool = True
    bos_token_id: int | None = None
    eos_token_id: int | None = None
    pad_token_id: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        repeats = tuple(self.block_repeats or (1 for _ in self.block_sizes))
        object.__setattr__(self, "block_repeats", repeats)
        object.__setattr__(self, "block_sizes", tuple(self.block_sizes))
        if len(repeats) != len(self.block_sizes):
            raise ValueError(f"block_repeats has {len(repeats)} numbers, block_sizes has {len(self.block_sizes)}")
        for name, known in (("pooling_type", ("mean", "max")), ("attention_type", ("relative_shift", "factorized"))):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {getattr(self, name)!r}; it must be {' or '.join(known)}")


LARGE = {"d_model": 1024, "n_heads": 16, "d_ff": 4096}
PRESETS: dict[str, dict[str, Any]] = {
    "funnel-transformer/small": {},
    "funnel-transformer/medium": {"block_sizes": (6, 3, 3), "block_repeats": (1, 2, 2)},
    "funnel-transformer/intermediate": {"block_sizes": (6, 6, 6)},
    "funnel-transformer/large": {"block_sizes": (8, 8, 8), **LARGE},
    "funnel-transformer/xlarge": {"block_sizes": (10, 10, 10), **LARGE},
}


class Embeddings(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.tokens = nn.Embedding(c.vocab_size, c.d_model, padding_idx=c.pad_token_id)
        self.norm, self.drop = nn.LayerNorm(c.d_model, c.eps), Dropout(c.dropout)

    def forward(self, ids: Tensor) -> Tensor:
        return self.drop(self.norm(embed_ids(self.tokens, ids, "input_ids")))


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.attn = PooledAttention(c.d_model, c.n_heads, c.d_head, dropout=c.attn_dropout, separate_cls=c.separate_cls)
        self.norm1 = nn.LayerNorm(c.d_model, c.eps)
        self.ff = FeedForward(c.d_model, c.d_ff, get_activation(c.activation), c.ff_dropout)
        self.norm2, self.drop = nn.LayerNorm(c.d_model, c.eps), Dropout(c.dropout)

    def forward(self, x: Tensor, memory: Tensor, context: PoolingContext) -> Tensor:
        x = self.norm1(x + self.drop(self.attn(x, memory, context)))
        return self.norm2(x + self.drop(self.ff(x)))


class Blocks(nn.ModuleList):
    def __init__(self, c: Config) -> None:
        super().__init__(nn.ModuleList(Layer(c) for _ in range(size)) for size in c.block_sizes)


def classification_logits(head: "MultipleChoiceHead | SequenceClassificationHead", inputs: _base.HeadInputs) -> Tensor:
    """Classifies the first position through a layer of the head's own, with dropout only after it -> [B,N]"""
    return head.score(head.drop(torch.tanh(head.pre_classifier(inputs.states[:, 0]))))


class SequenceClassificationHead(task_heads.ClsTokenClassificationHead):
    def scores(self, inputs: _base.HeadInputs) -> Tensor:
        return classification_logits(self, inputs)


class MultipleChoiceHead(task_heads.ChoiceHead):
    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.pre_classifier, self.score = nn.Linear(c.d_model, c.d_model), nn.Linear(c.d_model, 1)

    def scores(self, inputs: _base.HeadInputs) -> Tensor:
        return classification_logits(self, inputs)


class Funnel(Model):
    HEAD_CLASSES: dict[str | None, type[_base.Head]] = {
        None: _base.NoHead, "base": _base.NoHead, "masked_lm": _base.TiedLM,
        "replaced_token": task_heads.ReplacedTokenHead,
        **bert.TASK_HEADS, "sequence_classification": SequenceClassificationHead, "multiple_choice": MultipleChoiceHead,
    }  # fmt: skip
    PADDING_ROW = True
    HEADS = tuple(HEAD_CLASSES)
    ENCODER_ONLY_HEADS = ("base", "sequence_classification", "multiple_choice")

    init_weights = staticmethod(normal_init)  # also initialises the layers of a new head at loading

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        self.embed, self.layers = Embeddings(config), Blocks(config)
        add_head(self, self.HEAD_CLASSES)
        if head not in self.ENCODER_ONLY_HEADS:
            self.decoder = nn.ModuleList(Layer(config) for _ in range(config.n_decoder_layers))
        self.apply(self.init_weights)
        self.names = BASE_HF if head == "base" else HF
        self.drop = Dropout(config.dropout)

    def hook_states(self, note: Callable[[Tensor], None]) -> list[Any]:
        """Handles of hooks that record the embeddings, the output of each run of each layer (shorter from block to
        block), and, before the decoder's layers, the input of the first of them."""
        after = lambda _module, _args, out: note(out)
        blocks: Any = self.layers
        layers = [layer for block in blocks for layer in block]
        decoder = list(getattr(self, "decoder", ()))
        handles = [module.register_forward_hook(after) for module in (self.embed, *layers, *decoder)]
        before = [layer.register_forward_pre_hook(lambda _layer, args: note(args[0])) for layer in decoder[:1]]
        return handles + before

    def name_attentions(self, weights: dict[str, list[Tensor]], out: Output) -> dict[str, Any]:
        """All runs of all layers under one name, the decoder's last."""
        return {"attentions": tuple(layer for side in weights.values() for layer in side)}

    def pooling_context(
        self,
        block: int,
        q_types: Any,
        types: Tensor | None,
        mask: Tensor | None,
        queries: int,
        x: Tensor,
        pooled: bool = False,
    ) -> PoolingContext:
        """The attention context for the layers of a block; for the first of them the queries are the pooled
        positions."""
        shift, stride = 1 + pooled, 2 ** (block - pooled)
        windows = distance_windows(queries, x.size(1), shift, device=x.device)
        # of the last window, the farthest to the left
        first = -shift * (-(-queries // len(windows)) * len(windows) - 1)
        steps = torch.arange(first, x.size(1), device=x.device)
        # the first token counts as one stride before the others
        origin = -stride if pooled and self.config.separate_cls else 0
        position_encodings = self.drop(sinusoidal_distances(origin - stride * steps, self.config.d_model, x))
        same_segment = None
        if types is not None:
            same_segment = (
                (q_types[:, :, None] == types[:, None]) | (q_types == CLS)[:, :, None] | (types == CLS)[:, None]
            )
            same_segment = (
                same_segment & (torch.arange(x.size(1), device=x.device) > 0)
                if self.config.separate_cls
                else same_segment
            )
        return PoolingContext(
            position_encodings, windows - first, shift, same_segment, None if mask is None else mask[:, None, None]
        )

    def prepend_cls(self, x: Tensor) -> Tensor:
        """[B,L,...] -> the same with the first position repeated, so that it is not pooled with another"""
        if not self.config.separate_cls:
            return x
        return torch.cat([x[:, :1], x[:, :-1] if self.config.truncate_seq else x], 1)

    def pool(self, x: Tensor, types: Tensor | None, mask: Tensor | None) -> tuple[Tensor, Any, Any]:
        """Pools states, types and mask to half the length. Padding is pooled with the rest, as in the published code; a
        result that includes padding is masked."""
        pool = F.avg_pool2d if self.config.pooling_type == "mean" else F.max_pool2d
        x = pool(self.prepend_cls(x)[:, None], (2, 1), ceil_mode=True)[:, 0]
        types = None if types is None else self.prepend_cls(types)[:, ::2]
        if mask is not None:
            mask = self.prepend_cls(mask)
            mask = F.pad(mask, (0, mask.size(1) % 2), value=True).unflatten(1, (-1, 2)).all(-1)
        return x, types, mask

    def upsample(self, x: Tensor, length: int) -> Tensor:
        """Repeats each state as often as positions were pooled into it -> [B,length,E]"""
        times = 2 ** (len(self.config.block_sizes) - 1)
        if not self.config.separate_cls or times == 1:
            return x.repeat_interleave(times, 1)[:, :length]
        rest = x[:, 1:].repeat_interleave(times, 1)
        rest = F.pad(rest, (0, 0, 0, times - 1)) if self.config.truncate_seq else rest
        return torch.cat([x[:, :1], rest[:, : length - 1]], 1)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        labels: Tensor | None = None,
        **targets: Any,
    ) -> Output:
        """input_ids, attention_mask, token_type_ids [B,L] ([B,C,L] for multiple choice); labels and targets depend on
        the head -> Output: loss, logits, or the head's other fields. Raises ValueError or TypeError for invalid
        inputs."""
        if position_ids is not None:
            raise ValueError("position_ids were passed, but this model has only relative positions")
        targets = {"labels": labels, **targets}
        inputs = encoder_inputs(self, input_ids, attention_mask, token_type_ids, None, targets)
        return with_head(self, inputs, self.encode(inputs.ids, inputs.mask, inputs.types))

    def encode(self, ids: Tensor, mask: Tensor | None, types: Tensor | None) -> Tensor:
        """ids, types [B,L], mask bool [B,L] or None -> [B,L,E]; for heads without the decoder [B,S,E]"""
        if types is None and not self.config.separate_cls:
            types = torch.zeros_like(ids)
        x, c, whole = self.embed(ids), self.config, (types, mask)
        blocks: Any = self.layers
        for number, (block, repeats) in enumerate(zip(blocks, c.block_repeats, strict=True)):
            runs = [layer for layer in block for _ in range(repeats)]
            if number and x.size(1) > 1 + c.separate_cls:
                short, q_types, q_mask = self.pool(x, types, mask)
                if c.pool_q_only:
                    context = self.pooling_context(number, q_types, types, mask, short.size(1), x, pooled=True)
                    short = runs.pop(0)(short, x, context)
                x, types, mask = short, q_types, q_mask
            context = self.pooling_context(number, types, types, mask, x.size(1), x)
            for run, layer in enumerate(runs, 1):
                x = layer(x, x, context)
                if number == 0 and run == c.block_sizes[0]:
                    first = x
        if self.head in self.ENCODER_ONLY_HEADS:
            return x
        x = self.upsample(x, ids.size(1)) + first
        context = self.pooling_context(0, whole[0], *whole, x.size(1), x)
        for layer in self.decoder:
            x = layer(x, x, context)
        return x


MODEL = Funnel


class FunnelBaseNameMap(NameMap):
    """The tensors of the published model without a decoder have no prefix, although it is a head here."""

    def dump(self, local: dict[str, Tensor], *, with_head: bool) -> dict[str, Tensor]:
        return super().dump(local, with_head=False)


def _layer(published: str, local: str) -> dict[str, str]:
    attn = {
        "q_head": "q_proj", "k_head": "k_proj", "v_head": "v_proj", "post_proj": "o_proj", "r_w_bias": "content_bias",
        "r_r_bias": "position_bias", "r_s_bias": "segment_bias", "r_kernel": "position_kernel",
        "seg_embed": "segment_embed",
    }  # fmt: skip
    table = {f"{published}.attention.{name}": f"{local}.attn.{part}" for name, part in attn.items()}
    return table | {
        f"{published}.attention.layer_norm": f"{local}.norm1",
        f"{published}.ffn.linear_1": f"{local}.ff.up",
        f"{published}.ffn.linear_2": f"{local}.ff.down",
        f"{published}.ffn.layer_norm": f"{local}.norm2",
    }


BODY = {
    "embeddings.word_embeddings": "embed.tokens",
    "embeddings.layer_norm": "embed.norm",
    **_layer("encoder.blocks.{}.{}", "layers.{}.{}"),
    **_layer("decoder.layers.{}", "decoder.{}"),
}
HEAD_NAMES = {
    "lm_head.bias": "task_head.bias",
    "discriminator_predictions.dense": "task_head.discriminator_dense",
    "discriminator_predictions.dense_prediction": "task_head.dense_prediction",
    "classifier.linear_hidden": "task_head.pre_classifier",
    "classifier.linear_out": "task_head.score",
    **bert.TASK_NAMES,
}
TIED = {"lm_head.weight": "embeddings.word_embeddings.weight"}
HF, BASE_HF = (kind(BODY, prefix="funnel.", heads=HEAD_NAMES, tied=TIED) for kind in (NameMap, FunnelBaseNameMap))
HF_HEADS = {
    "FunnelModel": None, "FunnelBaseModel": "base", "FunnelForMaskedLM": "masked_lm",
    "FunnelForPreTraining": "replaced_token", **bert.task_classes("Funnel"),
}  # fmt: skip
HF_FIELDS = {
    **LABEL_FIELDS, **TIED_FIELDS, "vocab_size": "vocab_size", "block_sizes": "block_sizes", 
    "block_repeats": "block_repeats",
    "num_decoder_layers": "n_decoder_layers", "d_model": "d_model", "n_head": "n_heads", "d_head": "d_head",
    "d_inner": "d_ff", "hidden_act": "activation", "hidden_dropout": "dropout", "attention_dropout": "attn_dropout",
    "activation_dropout": "ff_dropout", "layer_norm_eps": "eps", "pooling_type": "pooling_type",
    "attention_type": "attention_type", "separate_cls": "separate_cls", "truncate_seq": "truncate_seq",
    "pool_q_only": "pool_q_only", "bos_token_id": "bos_token_id", "eos_token_id": "eos_token_id",
    "pad_token_id": "pad_token_id",
}  # fmt: skip
HF_FIXED: dict[str, Any] = {}
HF_UNUSED = {"initializer_range", "initializer_std", "max_position_embeddings", "type_vocab_size", "rel_attn_type"}
