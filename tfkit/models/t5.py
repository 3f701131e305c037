"""T5 (Raffel et al. 2020, arXiv:1910.10683, "Exploring the Limits of Transfer Learning with … Text-to-Text").

Parent   transformer (by idea)
Differs  no position embeddings: a learned bias per head and bucket of distances on the scores, the same in all layers;
         scores not divided by sqrt(d_kv); no biases; pre-norm with RMSNorm, and a final norm; embeddings are not
         scaled, but the states before the tied output matrix are divided by sqrt(d_model). Version 1.1: a gated GELU in
         the feed-forward network, an untied output matrix, without scaling
Trained  objectives.span_corruption, then many tasks as text to text
"""

from typing import Any

import torch
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import Attention, Dropout, flex, relative_bucket
from ..nn.cache import Cache
from ..nn.feed_forward import get_activation
from ..objectives.cross_entropy import cross_entropy, word_scores
from . import _base
from . import _task_heads as task_heads
from ._base import Model, configuration, to_padding_mask
from ._checks import check_ids, embed_ids
from ._output import Output
from ._seq2seq import (
    HEAD_CLASSES,
    LABEL_FIELDS,
    LABEL_NAMES,
    Seq2SeqTaskConfig,
    all_labels,
    make_task_head,
    shifted_labels,
    tasks_forward,
)


@configuration
class Config(Seq2SeqTaskConfig):
    vocab_size: int = 32128
    d_model: int = 512
    d_kv: int = 64  # the width of a head, independent of d_model
    d_ff: int = 2048
    n_layers: int = 6
    n_decoder_layers: int | None = None  # default n_layers
    n_heads: int = 8
    n_buckets: int = 32
    max_distance: int = 128
    activation: str = "relu"  # or "gated-gelu", "gated-silu", …
    # the function itself; default: as `activation` says ("gelu": its tanh approximation)
    dense_activation: str | None = None
    dropout: float = 0.1
    eps: float = 1e-6
    tie_word_embeddings: bool = True
    scale_decoder_outputs: bool | None = None  # default tie_word_embeddings
    pad_token_id: int = 0
    decoder_start_token_id: int = 0
    eos_token_id: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dense_activation is None:
            named = "gelu_new" if self.activation == "gated-gelu" else self.activation.removeprefix("gated-")
            object.__setattr__(self, "dense_activation", named)
        if self.scale_decoder_outputs is None:
            object.__setattr__(self, "scale_decoder_outputs", self.tie_word_embeddings)


V11 = {"activation": "gated-gelu", "tie_word_embeddings": False}
PRESETS: dict[str, dict[str, Any]] = {
    "t5-small": {},
    "t5-base": {"d_model": 768, "d_ff": 3072, "n_layers": 12, "n_heads": 12},
    "t5-large": {"d_model": 1024, "d_ff": 4096, "n_layers": 24, "n_heads": 16},
    "t5-3b": {"d_model": 1024, "d_kv": 128, "d_ff": 16384, "n_layers": 24, "n_heads": 32},
    "t5-11b": {"d_model": 1024, "d_kv": 128, "d_ff": 65536, "n_layers": 24, "n_heads": 128},
    "t5-v1_1-small": {"d_ff": 1024, "n_layers": 8, "n_heads": 6, **V11},
    "t5-v1_1-base": {"d_model": 768, "d_ff": 2048, "n_layers": 12, "n_heads": 12, **V11},
    "t5-v1_1-large": {"d_model": 1024, "d_ff": 2816, "n_layers": 24, "n_heads": 16, **V11},
}


class FeedForward(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(c.d_model, c.d_ff, bias=False), nn.Linear(c.d_ff, c.d_model, bias=False)
        self.activation, self.drop = get_activation(c.dense_activation), Dropout(c.dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.drop(self.activation(self.up(x))))


class Gated(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.gate, self.value = (nn.Linear(c.d_model, c.d_ff, bias=False) for _ in range(2))
        self.down, self.drop = nn.Linear(c.d_ff, c.d_model, bias=False), Dropout(c.dropout)
        self.activation = get_activation(c.dense_activation)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.drop(self.activation(self.gate(x)) * self.value(x)))


def feed_forward(c: Config) -> FeedForward | Gated:
    """The feed-forward network, with or without a gate, as the activation's name says."""
    return (Gated if c.activation.startswith("gated-") else FeedForward)(c)


def attention(c: Config) -> Attention:
    """Attention without biases and without scaling, for which the initial weights compensate."""
    return Attention(c.d_model, c.n_heads, d_head=c.d_kv, bias=False, scale=1.0, dropout=c.dropout)


class EncoderLayer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.self_attn, self.ff = attention(c), feed_forward(c)
        self.norm1, self.norm2 = (nn.RMSNorm(c.d_model, c.eps) for _ in range(2))
        self.drop = Dropout(c.dropout)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        x = x + self.drop(self.self_attn(self.norm1(x), bias=bias))
        return x + self.drop(self.ff(self.norm2(x)))


class DecoderLayer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.self_attn, self.cross_attn, self.ff = attention(c), attention(c), feed_forward(c)
        self.norm1, self.norm2, self.norm3 = (nn.RMSNorm(c.d_model, c.eps) for _ in range(3))
        self.drop = Dropout(c.dropout)

    def forward(
        self, x: Tensor, memory: Tensor, memory_mask: Tensor | None, bias: Tensor, cache: Cache | None
    ) -> Tensor:
        x = x + self.drop(self.self_attn(self.norm1(x), bias=bias, cache=cache))
        x = x + self.drop(self.cross_attn(self.norm2(x), memory, mask=memory_mask, cache=cache))
        return x + self.drop(self.ff(self.norm3(x)))


def without_padding(bias: Any, mask: Tensor | None) -> Any:
    """bias [1,H,Q,K], mask bool [B,K] or None -> [1 or B,H,Q,K], with -inf at padding"""
    if flex.is_rule(bias):
        return bias if mask is None else bias & flex.keys(mask)
    return bias if mask is None else bias.masked_fill(~mask[:, None, None], float("-inf"))


class T5(Model):
    ENCODER_HEAD_CLASSES = {"encoder": _base.NoHead, "token_classification": task_heads.TokenClassificationHead}
    HEADS = (None, "seq2seq_lm", *HEAD_CLASSES, *ENCODER_HEAD_CLASSES)
    SHIFTS_INPUT_IDS = False
    FLEX_ATTENTION = True
    forward, decoder_ids, read_mask = tasks_forward, shifted_labels, all_labels

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        c = config
        self.embed = nn.Embedding(c.vocab_size, c.d_model)
        self.encoder = nn.ModuleList(EncoderLayer(c) for _ in range(c.n_layers))
        self.encoder_bias, self.encoder_norm = nn.Embedding(c.n_buckets, c.n_heads), nn.RMSNorm(c.d_model, c.eps)
        if head not in self.ENCODER_HEAD_CLASSES:
            self.decoder = nn.ModuleList(DecoderLayer(c) for _ in range(c.n_decoder_layers or c.n_layers))
            self.decoder_bias, self.decoder_norm = nn.Embedding(c.n_buckets, c.n_heads), nn.RMSNorm(c.d_model, c.eps)
        self.drop = Dropout(c.dropout)
        if head == "seq2seq_lm" and not c.tie_word_embeddings:
            self.lm_head = nn.Linear(c.d_model, c.vocab_size, bias=False)
        self.task_head = make_task_head(self)
        self.apply(self.init_weights)

    def init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
            if module.bias is not None:  # a task head has one
                nn.init.zeros_(module.bias)
        if isinstance(module, Attention):  # the scores are not divided by sqrt(d_kv), so the initial weights are
            nn.init.normal_(module.q_proj.weight, std=(self.config.d_model * self.config.d_kv) ** -0.5)
        if isinstance(module, nn.Embedding):
            words = module.num_embeddings == self.config.vocab_size
            nn.init.normal_(module.weight, std=1.0 if words else self.config.d_model**-0.5)

    def bias(self, side: str, past: Tensor | int, queries: int, keys: int, cache: Cache | None = None) -> Any:
        """The position bias of `queries` positions after `past` others, for `keys` keys -> [1,H,Q,K]

        It is built once and used in every layer. It depends only on the distance, so each distance is looked up once;
        the decoder's bias also hides keys in the future by -inf."""
        c, table = self.config, self.encoder_bias if side == "encoder" else self.decoder_bias
        distance = torch.arange(1 - queries, keys, device=table.weight.device) - past
        # not below 0: a row that is kept for later steps may reach distances that `check_distance` will refuse
        rows = relative_bucket(distance, side == "encoder", c.n_buckets, c.max_distance).clamp(min=0)
        bias = table(rows).T  # [H,Q+K-1]
        if side == "decoder":
            bias = bias.masked_fill(distance > 0, float("-inf"))
        if flex.is_chosen(self, queries, bias.device, cache, c.dropout):
            return flex.visible(None) & flex.distance_bias(bias)
        return bias.unfold(1, keys, 1).flip(1)[None]  # the first window belongs to the last query

    def check_distance(self, exact: int, length: Tensor | int) -> None:
        """Raises ValueError if a text of this length has distances without a bucket: `exact` distances have one each,
        and the others share theirs up to max_distance, which must be larger."""
        furthest = self.config.max_distance
        if furthest <= exact and isinstance(length, int) and length > exact:
            raise ValueError(
                f"max_distance={furthest}: distances from {exact} on have no bucket; must be above {exact}"
            )

    def encode(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Output:
        """input_ids, attention_mask [B,S] -> Output with last_hidden_state [B,S,E]"""
        mask = to_padding_mask("attention_mask", attention_mask, check_ids("input_ids", input_ids).shape)
        self.check_distance(self.config.n_buckets // 4, input_ids.size(1))
        bias = without_padding(self.bias("encoder", 0, input_ids.size(1), input_ids.size(1)), mask)
        x = self.drop(embed_ids(self.embed, input_ids, "input_ids"))
        for layer in self.encoder:
            x = layer(x, bias)
        return Output(last_hidden_state=self.drop(self.encoder_norm(x)))

    def decode(
        self, ids: Tensor, memory: Tensor, mask: Tensor | None, memory_mask: Tensor | None, cache: Cache | None
    ) -> Tensor:
        """ids [B,T], memory [B,S,E], masks bool [B,T] and [B,S] or None -> [B,T,E]"""
        memory_mask = memory_mask if memory_mask is None else memory_mask[:, None, None]
        past, new = 0 if cache is None else cache.past, ids.size(1)
        self.check_distance(self.config.n_buckets // 2, past + new)
        if cache is not None and isinstance(past, int) and past and new == 1:
            bias = self.next_bias(cache, past)
        else:
            bias = self.bias("decoder", past, new, new if cache is None else cache.width(new), cache)
        bias = without_padding(bias, mask)
        x = self.drop(embed_ids(self.embed, ids, "decoder_input_ids"))
        for layer in self.decoder:
            x = layer(x, memory, memory_mask, bias, cache)
        return self.drop(self.decoder_norm(x))

    def next_bias(self, cache: Cache, past: int) -> Tensor:
        """The bias of one token after `past` others -> [1,H,1,past+1]: the end of a longer row, which is kept in the
        cache"""
        row = cache.constants.get(self)
        if row is None or row.size(-1) <= past:
            room = max(64, 2 * past + 2)
            row = cache.constants[self] = self.bias("decoder", room - 1, 1, room, cache)
        return row[..., row.size(-1) - past - 1 :]

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """logits [B,T,V], labels [B,T] -> scalar"""
        return cross_entropy(logits, labels)

    def score(self, x: Tensor) -> Tensor:
        """x [B,T,E] -> logits [B,T,V]"""
        x = x * self.config.d_model**-0.5 if self.config.scale_decoder_outputs else x
        return word_scores(x, (self.embed if self.config.tie_word_embeddings else self.lm_head).weight)


MODEL = T5


class T5NameMap(NameMap):
    """Some checkpoints tie the output to the embeddings and some do not: an output matrix that differs is kept."""

    def load(self, published: dict[str, Tensor]) -> dict[str, Tensor]:
        own = published.get("lm_head.weight")
        if own is None or torch.equal(own, published.get("shared.weight", own)):
            return super().load(published)
        rest = {name: tensor for name, tensor in published.items() if name != "lm_head.weight"}
        return super().load(rest) | {"lm_head.weight": own}

    def dump(self, local: dict[str, Tensor], *, with_head: bool) -> dict[str, Tensor]:
        """Only two of transformers' classes have a prefix for the model below the head."""
        return super().dump(
            local,
            with_head=any(name.startswith(("task_head.pre_classifier", "task_head.classifier")) for name in local),
        )


def _layer(side: str, local: str, published: str) -> dict[str, str]:
    return {f"{side}.block.{{}}.layer.{published}": f"{side}.{{}}.{local}"}


def _side(side: str, ff: int) -> dict[str, str]:
    table = {f"{side}.final_layer_norm": f"{side}_norm"}
    table[f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias"] = f"{side}_bias"
    for letter in "qkvo":
        table |= _layer(side, f"self_attn.{letter}_proj", f"0.SelfAttention.{letter}")
        table |= _layer(side, f"cross_attn.{letter}_proj", f"1.EncDecAttention.{letter}") if ff == 2 else {}
    for name, local in {"wi": "up", "wi_0": "gate", "wi_1": "value", "wo": "down"}.items():
        table |= _layer(side, f"ff.{local}", f"{ff}.DenseReluDense.{name}")
    for index in range(ff + 1):
        table |= _layer(side, f"norm{index + 1}", f"{index}.layer_norm")
    return table


BODY = {"shared": "embed", **_side("encoder", 1), **_side("decoder", 2)}
HEADED = {"lm_head": "lm_head", "classifier": "task_head.classifier", **LABEL_NAMES}
TIED = dict.fromkeys(["lm_head.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"], "shared.weight")
CONSTANT = [r"decoder\.block\.0\.layer\.1\.EncDecAttention\.relative_attention_bias\.weight"]  # in old files; unused
HF = T5NameMap(BODY, prefix="transformer.", heads=HEADED, tied=TIED, constant=CONSTANT)
HF_HEADS = {
    "T5Model": None, "T5ForConditionalGeneration": "seq2seq_lm", "T5WithLMHeadModel": "seq2seq_lm",
    "T5ForSequenceClassification": "sequence_classification", "T5ForQuestionAnswering": "question_answering",
    "T5EncoderModel": "encoder", "T5ForTokenClassification": "token_classification",
}  # fmt: skip
HF_FIELDS = {
    "vocab_size": "vocab_size", "d_model": "d_model", "d_kv": "d_kv", "d_ff": "d_ff", "num_layers": "n_layers",
    "num_decoder_layers": "n_decoder_layers", "num_heads": "n_heads", "relative_attention_num_buckets": "n_buckets",
    "relative_attention_max_distance": "max_distance", "feed_forward_proj": "activation", "dropout_rate": "dropout",
    "layer_norm_epsilon": "eps", "tie_word_embeddings": "tie_word_embeddings",
    "scale_decoder_outputs": "scale_decoder_outputs", "dense_act_fn": "dense_activation",
    "pad_token_id": "pad_token_id",
    "decoder_start_token_id": "decoder_start_token_id", "eos_token_id": "eos_token_id",
    **LABEL_FIELDS,
}  # fmt: skip
HF_FIXED = {"is_decoder": False}
HF_UNUSED = {"initializer_factor", "is_gated_act", "n_positions", "output_past",
             "bos_token_id"}  # fmt: skip
