"""Longformer (Beltagy et al. 2020, arXiv:2004.05150): RoBERTa over whole documents.

Parent   roberta (by idea)
Differs  a token attends to `window` neighbours only, half on each side, so time and memory grow linearly with the
         length; a few tokens are global: they attend to all positions and all attend to them, through separate
         projections of queries, keys and values, which are initialised as copies of the local ones
         Global tokens are those in global_attention_mask; by default the first token for a classifier, the question for
         question answering, the choice for multiple choice (the three sep tokens in between mark these two), otherwise
         none.
Trained  masked language modelling, from RoBERTa's weights, whose position table is repeated until it is long enough
"""

from typing import Any

import torch
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import flex
from ..nn.sliding_window import WindowAttention, WindowContext, window_mask
from . import bert, roberta
from ._base import Model, add_head, configuration, encoder_inputs, normal_init, to_bool_mask, with_head
from ._output import Output
from .bert import ENCODER_FIXED
from .roberta import Embeddings, RoBERTa


@configuration
class Config(roberta.Config):
    max_length: int = 4098
    # left and right together, the same for all layers or one value each
    window: int | list[Any] | tuple[Any, ...] = 512
    sep_token_id: int = 2

    def windows(self) -> list[int]:
        """The window of each layer. Raises ValueError unless there is an even number per layer."""
        windows = [self.window] * self.n_layers if isinstance(self.window, int) else list(self.window)
        if len(windows) != self.n_layers or any(width < 2 or width % 2 for width in windows):
            raise ValueError(
                f"window must be one even number, or one for each of {self.n_layers} layers; got {windows}"
            )
        return windows


PRESETS: dict[str, dict[str, Any]] = {"longformer-base-4096": {}, "longformer-large-4096": bert.LARGE}


class Layer(bert.PostNorm):
    def __init__(self, c: Config, window: int) -> None:
        super().__init__(c)
        self.attn = WindowAttention(c.d_model, c.n_heads, window, c.attn_dropout)

    def forward(self, x: Tensor, context: WindowContext) -> Tensor:
        """x [B,L,E], context: `WindowContext` -> [B,L,E]"""
        return self.after_attention(x, self.attn(x, context))


class Longformer(Model):
    HEAD_CLASSES = {
        head: cls for head, cls in RoBERTa.HEAD_CLASSES.items() if head != "causal_lm"
    }  # windows extend to both sides
    PADDING_ROW = True
    FLEX_ATTENTION = True
    HEADS = tuple(HEAD_CLASSES)

    init_weights = staticmethod(normal_init)  # also initialises the layers of a new head at loading

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        self.embed = Embeddings(config)
        self.layers = nn.ModuleList(Layer(config, window) for window in config.windows())
        add_head(self, self.HEAD_CLASSES)
        self.apply(self.init_weights)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        labels: Tensor | None = None,
        *,
        global_attention_mask: Tensor | None = None,
        **targets: Any,
    ) -> Output:
        """input_ids, attention_mask, token_type_ids [B,L] ([B,C,L] for multiple choice); global_attention_mask: of the
        same shape, 1 at global tokens; labels and targets depend on the head -> Output: loss, logits, or the head's
        other fields. Raises ValueError or TypeError for invalid inputs."""
        given, targets = (input_ids, attention_mask, token_type_ids, position_ids), {"labels": labels, **targets}
        inputs = encoder_inputs(self, *given, targets, extra={"global_mask": global_attention_mask})
        ids = inputs.ids
        return with_head(self, inputs, self.encode(ids, inputs.mask, inputs.types, inputs.position_ids, **inputs.extra))

    def encode(
        self,
        ids: Tensor,
        mask: Tensor | None,
        types: Tensor | None,
        position_ids: Tensor | None,
        global_mask: Tensor | None = None,
    ) -> Tensor:
        """ids, types [B,L], mask bool [B,L] or None; global_mask [B,L]: 1 at global tokens, else 0 -> [B,L,E]"""
        non_padding = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask
        first_only = global_mask is None and self.head == "sequence_classification"
        global_mask = (
            self.default_global_mask(ids)
            if global_mask is None
            else to_bool_mask("global_attention_mask", global_mask, ids.shape)
        )
        x = self.embed(ids, types, position_ids)
        global_mask = None if global_mask is None else global_mask & non_padding
        context = self.context(non_padding, global_mask, 1 if first_only else None)
        for layer in self.layers:
            x = layer(x, context)
        return x

    def context(self, non_padding: Tensor, global_mask: Tensor | None, most: int | None = None) -> WindowContext:
        """non_padding, global_mask bool [B,L] (None: no global tokens) -> the window context that all layers share.
        most: the largest number of global tokens of a row, if it is known: else it is read from the device"""
        reaches = {width // 2 for width in self.config.windows()}
        global_positions = is_global = None
        if global_mask is not None and (most := int(global_mask.sum(1).max()) if most is None else most):
            global_positions = global_mask.byte().argsort(dim=1, descending=True, stable=True)[:, :most]  # [B,G]
            is_global = global_mask.gather(1, global_positions)
        local_masks = {reach: self.local_mask(non_padding, global_mask, reach) for reach in reaches}
        return WindowContext(non_padding, local_masks, global_positions, is_global)

    def local_mask(self, non_padding: Tensor, global_mask: Tensor | None, reach: int) -> Any:
        """non_padding, global_mask bool [B,L] or None -> the mask of `blockwise_window_attention`, without the global
        keys; a rule has them too"""
        if flex.is_chosen(self, non_padding.size(1), non_padding.device, dropout=self.config.attn_dropout):
            near = flex.window(reach) if global_mask is None else flex.window(reach) | flex.keys(global_mask)
            return flex.visible(non_padding) & near
        return window_mask(non_padding if global_mask is None else non_padding & ~global_mask, reach)

    def default_global_mask(self, ids: Tensor) -> Tensor | None:
        """The global tokens by default, by the head: bool [B,L] or None. Raises ValueError if sep tokens are
        missing."""
        position = torch.arange(ids.size(1), device=ids.device).expand_as(ids)
        if self.head == "sequence_classification":
            return position == 0
        if self.head not in ("question_answering", "multiple_choice"):
            return None
        sep = ids == self.config.sep_token_id
        if (sep.sum(1) != 3).any():
            three = f"exactly three sep tokens ({self.config.sep_token_id}) in each row"
            raise ValueError(f"head {self.head!r} needs global_attention_mask, or {three}")
        end = sep.byte().argmax(1, keepdim=True)  # the end of the question
        return position < end if self.head == "question_answering" else position > end + 1


MODEL = Longformer

GLOBAL = {
    f"encoder.layer.{{}}.attention.self.{name}_global": f"layers.{{}}.attn.{name[0]}_global"
    for name in ("query", "key", "value")
}
HF = NameMap(
    {**bert.BODY, **GLOBAL},
    prefix="longformer.",
    heads=roberta.HF.heads,
    tied=roberta.HF.tied,
    constant=bert.CONSTANT,
)
HF_HEADS = {"LongformerModel": None, "LongformerForMaskedLM": "masked_lm", **bert.task_classes("Longformer")}
HF_FIELDS = {**bert.ENCODER_FIELDS, "attention_window": "window", "sep_token_id": "sep_token_id"}
del HF_FIELDS["classifier_dropout"]  # its heads use the layers' dropout
HF_FIXED = ENCODER_FIXED
HF_UNUSED = bert.HF_UNUSED | {"onnx_export", "attention_mode", "ignore_attention_mask", "classifier_dropout"}
HF_DEFAULTS = {"vocab_size": 30522, "max_length": 512, "n_types": 2, "eps": 1e-12}  # transformers' defaults
