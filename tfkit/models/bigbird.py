"""BigBird (Zaheer et al. 2020, arXiv:2007.14062): BERT for long texts, with block-sparse attention.

Parent   bert
Differs  the text is cut into blocks; each block attends to itself and its neighbours, to the first and the last block,
         which attend to everything, and to a few random ones: time and memory grow linearly with the length.
         As published: the random blocks of a layer use its number as seed, change with the length, and exist only in
         training; otherwise the first block replaces each of them, and so counts several times.
         Short texts, and every causal model, use full attention. (The published causal model looks ahead on long texts,
         as its blocks are not causal. This one never does.) Attention weights have dropout in full attention only.
         Dropout comes before the norm of the embeddings; heads have layers of their own.
Trained  masked language modelling and next sentence, from RoBERTa's weights
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import Attention, Dropout, FeedForward, flex, merge_heads
from ..nn.block_sparse import block_sparse_attention, block_table, draw_random_blocks
from ..nn.cache import Cache
from ..nn.feed_forward import get_activation
from ..nn.positions import position_range
from . import _base, bert
from . import _task_heads as task_heads
from ._base import configuration, replace_fields
from ._checks import check_ids, check_max_length, embed_ids, require_tensor
from ._output import Output
from .bert import BERT


@configuration
class Config(bert.Config):
    vocab_size: int = 50358
    max_length: int = 4096
    activation: str = "gelu_new"
    attention_type: str = "block_sparse"  # or "original_full"
    block: int = 64
    n_random: int = 3
    qkv_bias: bool = True
    rescale_embeddings: bool = False
    is_decoder: bool | None = None  # by default as the head needs it
    bos_token_id: int | None = 1
    eos_token_id: int | None = 2
    sep_token_id: int = 66

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.attention_type not in ("block_sparse", "original_full"):
            raise ValueError(f"attention_type is {self.attention_type!r}, not 'block_sparse' or 'original_full'")


PRESETS: dict[str, dict[str, Any]] = {"bigbird-roberta-base": {}, "bigbird-roberta-large": bert.LARGE}
OLD_PLAN = (1024, 3072, 4096)  # lengths, in tokens


@dataclass(frozen=True)
class SparseContext:
    """The context of block-sparse attention. non_padding bool [B,N,W]: tokens that are not padding, in N blocks of W;
    rule: the same for FlexAttention, or None."""

    non_padding: torch.Tensor
    rule: Any = None


class Embeddings(bert.Embeddings):
    types: nn.Embedding

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.scale = c.d_model**0.5 if c.rescale_embeddings else 1.0

    def forward(self, ids: Tensor, types: Tensor | None, position_ids: Tensor | None) -> Tensor:
        x = embed_ids(self.tokens, ids, "input_ids") * self.scale
        x = x + (self.types.weight[0] if types is None else embed_ids(self.types, types, "token_type_ids"))
        position_ids = self.make_position_ids(ids) if position_ids is None else position_ids
        return self.norm(self.drop(x + embed_ids(self.positions, position_ids, "position_ids")))


class SparseAttention(Attention):
    """Full attention or, given a `SparseContext`, block-sparse attention."""

    def __init__(self, c: Config, seed: int) -> None:
        how: dict[str, Any] = {"dropout": c.attn_dropout, "causal": c.is_decoder}
        super().__init__(c.d_model, c.n_heads, bias=c.qkv_bias, out_bias=True, **how)
        self.config, self.seed = c, seed
        self.kept_blocks: dict[tuple[Any, ...], torch.Tensor] = {}

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        cache: Cache | None = None,
        context: SparseContext | None = None,
    ) -> Tensor:
        """As the parent's; context: `SparseContext`, for self-attention over [B,L,E], L a multiple of the block ->
        [B,L,E]"""
        if context is None:
            return super().forward(x, memory, mask=mask, bias=bias, cache=cache)
        non_padding = context.non_padding
        q, k, v = self.queries_keys_values(x)
        table, once = block_table(
            non_padding.size(1), self.draw_blocks(non_padding) if self.training else None, x.device
        )
        again = 0 if self.training else self.config.n_random
        out = block_sparse_attention(q, k, v, non_padding, table, once, first_block_repeats=again, rule=context.rule)
        return self.o_proj(merge_heads(out) * non_padding.view(*x.shape[:2], 1))

    def draw_blocks(self, non_padding: Tensor) -> Tensor:
        """non_padding [B,N,W] -> the random blocks of this layer, the same at each step because its number is the seed.
        They are cached on the device, so that no step waits for a copy."""
        c, (blocks, block) = self.config, non_padding.shape[1:]
        key = (blocks, block, non_padding.device)
        if key in self.kept_blocks:
            return self.kept_blocks[key]
        last = 1024 // block if block < 512 else c.max_length // block
        most = (c.max_length // block, last - 1) if blocks * block in OLD_PLAN else None
        with torch.inference_mode(False):  # an ordinary tensor, as it will be used in training
            found = draw_random_blocks(self.seed, self.n_heads, blocks, c.n_random, most).to(non_padding.device)
        if not torch.compiler.is_compiling():
            self.kept_blocks[key] = found
        return found


class Layer(bert.PostNorm):
    def __init__(self, c: Config, seed: int) -> None:
        super().__init__(c)
        self.attn = SparseAttention(c, seed)

    def forward(
        self, x: Tensor, mask: Tensor | None, cache: Cache | None = None, context: SparseContext | None = None
    ) -> Tensor:
        """x [B,L,E]; full attention: mask bool [B,1,1,K] or None, cache; sparse: context: `SparseContext` -> [B,L,E]"""
        return self.after_attention(x, self.attn(x, mask=mask, cache=cache, context=context))


class Layers(nn.ModuleList):
    def __init__(self, c: Config) -> None:
        super().__init__(Layer(c, seed) for seed in range(c.n_layers))


class MaskedLMHead(_base.MaskedLMHead):
    NEEDS_POOLER = True  # unused, but the published files have it


class CausalLMHead(_base.ShiftedLabels, MaskedLMHead):
    """Predicts the next token, for a causal model."""


class TokenClassificationHead(task_heads.TokenClassificationHead):
    NEEDS_POOLER = True


class SequenceClassificationHead(task_heads.ClsTokenClassificationHead):
    NEEDS_POOLER = True  # as above

    def __init__(self, c: Config) -> None:
        super().__init__(c, c.activation)


class QuestionAnsweringHead(task_heads.QuestionAnsweringHead):
    """Adds a feed-forward layer; an answer cannot be in the question (except its first token, which means no
    answer)."""

    TARGETS: ClassVar[tuple[str, ...]] = ("question", "start_positions", "end_positions")

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.drop = Dropout(c.dropout)
        self.ff, self.last = (
            FeedForward(c.d_model, c.d_ff, get_activation(c.activation)),
            nn.LayerNorm(c.d_model, c.eps),
        )

    def forward(
        self,
        inputs: _base.HeadInputs,
        start_positions: Tensor | None = None,
        end_positions: Tensor | None = None,
        question: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """As the parent's; question bool [B,L]: the tokens in which no answer can be"""
        return super().forward(inputs._replace(mask=question), start_positions, end_positions)

    def scores(self, inputs: _base.HeadInputs) -> Tensor:
        x = self.last(inputs.states + self.drop(self.ff(self.drop(inputs.states))))
        question = F.pad(cast(Tensor, inputs.mask)[:, 1:], (1, 0))
        return self.qa_outputs(x) - 1e6 * question[..., None].to(x.dtype)


class BigBird(BERT):
    MASKS_PAIRS = False
    EMBEDDINGS, LAYERS = Embeddings, Layers
    FLEX_ATTENTION = True
    HEAD_CLASSES = {
        None: _base.NoHeadWithPooler, "masked_lm": MaskedLMHead, "causal_lm": CausalLMHead,
        "pretraining": task_heads.PretrainingHead,
        **bert.TASK_HEADS, "sequence_classification": SequenceClassificationHead,
        "token_classification": TokenClassificationHead,
        "question_answering": QuestionAnsweringHead,
    }  # fmt: skip
    HEADS = tuple(HEAD_CLASSES)

    def __init__(self, config: Config, head: str | None = None) -> None:
        causal = head == "causal_lm" if config.is_decoder is None else config.is_decoder
        if causal != (head == "causal_lm") and head is not None:
            raise ValueError(f"is_decoder is {causal}: head {head!r} needs {not causal}")
        super().__init__(replace_fields(config, is_decoder=causal), head)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        labels: Tensor | None = None,
        *,
        question_lengths: Tensor | None = None,
        **targets: Any,
    ) -> Output:
        """As BERT's, and question_lengths [B] or [B,1]: the number of tokens of the question, in which no answer can
        be; default: up to the first sep token."""
        given: dict[str, Any] = {"labels": labels, **targets}
        if question_lengths is not None or self.head == "question_answering":
            given["question"] = question = self.question_mask(check_ids("input_ids", input_ids), question_lengths)
            token_type_ids = (~question).long() if token_type_ids is None else token_type_ids
        return super().forward(input_ids, attention_mask, token_type_ids, position_ids, **given)

    def question_mask(self, ids: Tensor, lengths: Tensor | None) -> Tensor:
        """-> bool [B,L]: the question's tokens"""
        if lengths is None:
            lengths = (ids == self.config.sep_token_id).byte().argmax(-1) + 1
        require_tensor("question_lengths", lengths)
        if lengths.numel() != len(ids):
            raise ValueError(f"question_lengths has shape {list(lengths.shape)}; expected [{len(ids)}]")
        return torch.arange(ids.size(1), device=ids.device) < lengths.reshape(-1, 1)

    def encode(
        self,
        ids: Tensor,
        mask: Tensor | None,
        types: Tensor | None,
        position_ids: Tensor | None,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        c, length = self.config, ids.size(1)
        if cache is not None and position_ids is None:
            position_ids = self.new_positions(cache.past, ids)
        x = self.embed(ids, types, position_ids)
        if c.is_decoder or c.attention_type != "block_sparse" or length <= (5 + 2 * c.n_random) * c.block:
            mask, context = None if mask is None else mask[:, None, None], None
        else:
            non_padding = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask
            x, non_padding = F.pad(x, (0, 0, 0, -length % c.block)), F.pad(non_padding, (0, -length % c.block))
            context = SparseContext(non_padding.unflatten(1, (-1, c.block)))
            if flex.is_chosen(self, x.size(1), x.device):
                context = replace(context, rule=flex.visible(non_padding))
        for layer in self.layers:
            x = layer(x, mask, cache, context)
        return x[:, :length]

    def new_positions(self, past: Tensor | int, ids: Tensor) -> Tensor:
        """int64 [L]; raises ValueError past max_length."""
        check_max_length(self.config, "input_ids", ids, past)
        return position_range(past, ids.size(1), ids.device)


MODEL = BigBird

HF = NameMap(
    {**{k: v for k, v in bert.BODY.items() if not k.startswith("pooler")}, "pooler": "pooler"},
    prefix="bert.",
    heads={
        **{k: v for k, v in bert.HF.heads.items() if k != "qa_outputs"},
        "qa_classifier.intermediate.dense": "task_head.ff.up",
        "qa_classifier.output.dense": "task_head.ff.down",
        "qa_classifier.output.LayerNorm": "task_head.last",
        "qa_classifier.qa_outputs": "task_head.qa_outputs",
    },
    tied=bert.HF.tied,
    constant=bert.CONSTANT,
)
HF_HEADS = {
    "BigBirdModel": None, "BigBirdForMaskedLM": "masked_lm", "BigBirdForCausalLM": "causal_lm",
    "BigBirdForPreTraining": "pretraining", **bert.task_classes("BigBird"),
}  # fmt: skip
HF_FIELDS = {
    **bert.ENCODER_FIELDS, "attention_type": "attention_type", "block_size": "block", "num_random_blocks": "n_random",
    "use_bias": "qkv_bias", "rescale_embeddings": "rescale_embeddings", "is_decoder": "is_decoder",
    "sep_token_id": "sep_token_id",
}  # fmt: skip
HF_FIXED = {field: value for field, value in bert.ENCODER_FIXED.items() if field != "is_decoder"}
HF_UNUSED = bert.HF_UNUSED
