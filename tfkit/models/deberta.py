"""DeBERTa (He et al. 2020, arXiv:2006.03654): attention with separate vectors for content and relative position.

Parent   bert (by idea)
Differs  scores are sums of content to content, content to distance ("c2p") and distance to content ("p2c"), where
         distances have keys and queries of their own; so the embeddings contain no positions. For masked language
         modelling absolute positions are added late: the last layer runs `emd_steps` times with queries from its input
         plus absolute positions (the enhanced mask decoder; the published models were trained with 2, and the published
         code runs them with 0). Padding is zero after the embeddings. The pooler belongs to the classifier, with GELU
         and dropout.
Trained  masked language modelling
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import Dropout
from ..nn.disentangled_attention import DisentangledAttention, TalkingHeadsAttention, distance_windows
from ..nn.feed_forward import get_activation
from . import _base, bert
from . import _task_heads as task_heads
from ._base import Model, add_head, configuration, encoder_inputs, normal_init, with_head
from ._checks import embed_ids
from ._output import Output


@configuration
class Config(bert.Config):
    vocab_size: int = 50265
    n_types: int = 0
    eps: float = 1e-7
    d_embed: int | None = None  # default: the width of the layers
    relative_attention: bool = True
    pos_att_type: Sequence[str] | str | None = ("c2p", "p2c")  # also "c2p|p2c"
    max_relative_positions: int = -1  # below 1: max_length
    position_biased_input: bool = False
    talking_head: bool = False
    pooler_dropout: float = 0.0
    pooler_activation: str = "gelu"
    emd_steps: int = 0
    legacy: bool = True  # the name under which the word head is saved

    def __post_init__(self) -> None:
        super().__post_init__()
        kinds = self.pos_att_type or ()
        kinds = tuple(kind.strip() for kind in (kinds.lower().split("|") if isinstance(kinds, str) else kinds))
        if wrong := sorted(set(kinds) - {"c2p", "p2c"}):
            raise ValueError(f"pos_att_type holds {wrong[0]!r}: only 'c2p' and 'p2c' are known")
        span = self.max_length if self.max_relative_positions < 1 else self.max_relative_positions
        settled = {"pos_att_type": kinds, "d_embed": self.d_embed or self.d_model, "max_relative_positions": span}
        for name, value in settled.items():
            object.__setattr__(self, name, value)


PRESETS: dict[str, dict[str, Any]] = {
    "deberta-base": {},
    "deberta-large": bert.LARGE,
    "deberta-xlarge": {**bert.LARGE, "n_layers": 48},
}


class Embeddings(bert.Embeddings):
    """Embeddings without positions, unless the configuration adds them here; projected if narrower than the layers."""

    def __init__(self, c: Any) -> None:
        super().__init__(c, c.d_embed, positions=c.position_biased_input)
        narrow = c.d_embed != c.d_model
        self.embed_proj = nn.Linear(c.d_embed, c.d_model, bias=False) if narrow else nn.Identity()
        self.norm = nn.LayerNorm(c.d_model, c.eps)

    def forward(
        self, ids: Tensor, types: Tensor | None, position_ids: Tensor | None, mask: Tensor | None = None
    ) -> Tensor:
        x = self.norm(self.embed_proj(self.sum_embeddings(ids, types, position_ids)))
        return self.drop(x if mask is None else x * mask[..., None])


class Layer(bert.PostNorm):
    def __init__(self, c: Any) -> None:
        super().__init__(c)
        kinds, terms = c.pos_att_type if c.relative_attention else (), 1 + len(c.pos_att_type)
        self.attn = self.attention(c, kinds, dropout=c.attn_dropout, drop_distances=c.dropout, terms=terms)

    def attention(self, c: Any, kinds: Sequence[str], **how: Any) -> DisentangledAttention:
        return (TalkingHeadsAttention if c.talking_head else DisentangledAttention)(c.d_model, c.n_heads, kinds, **how)

    def forward(
        self, x: Tensor, mask: Tensor | None, table: Tensor, rows: list[Tensor], query_states: Tensor | None = None
    ) -> Tensor:
        """x, query_states [B,L,E], mask bool [B,L] or None, table [R,E] and rows as from `DeBERTa.relative` ->
        [B,L,E]"""
        return self.after_attention(
            x if query_states is None else query_states, self.attn(x, mask, table, rows, query_states)
        )


class Layers(nn.ModuleList):
    def __init__(self, c: Config) -> None:
        super().__init__(Layer(c) for _ in range(c.n_layers))


class MaskedLMHead(_base.MaskedLMHead):
    def __init__(self, c: Any) -> None:
        super().__init__(c, c.d_embed)


class Pooler(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.dense, self.drop = nn.Linear(c.d_model, c.d_model), Dropout(c.pooler_dropout)
        self.activation = get_activation(c.pooler_activation)

    def forward(self, states: Tensor) -> Tensor:
        return self.activation(self.dense(self.drop(states[:, 0])))


class SequenceClassificationHead(task_heads.SequenceHead):
    """The pooler is part of this head, not of the encoder. Labels may be probabilities [B,N]."""

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.classifier, self.pool = nn.Linear(c.d_model, c.num_labels), Pooler(c)

    def scores(self, inputs: _base.HeadInputs) -> Tensor:
        return self.classifier(self.drop(self.pool(inputs.states)))

    def forward(self, inputs: _base.HeadInputs, labels: Tensor | None = None) -> dict[str, Tensor]:
        if labels is None or self.problem or labels.dim() == 1 or self.classifier.out_features == 1:
            return super().forward(inputs, labels)
        logits = self.scores(inputs)
        if labels.shape != logits.shape:
            raise ValueError(f"labels have shape {list(labels.shape)}; expected {list(logits.shape)}")
        return {"loss": F.cross_entropy(logits, labels.to(logits.dtype)), "logits": logits}


class TokenClassificationHead(task_heads.TokenClassificationHead):
    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.drop = Dropout(c.dropout)  # this head does not use the dropout of the sequence classifier


class DeBERTa(Model):
    HEAD_CLASSES = {
        None: _base.NoHead, "masked_lm": MaskedLMHead, "sequence_classification": SequenceClassificationHead,
        "token_classification": TokenClassificationHead, "question_answering": task_heads.QuestionAnsweringHead,
    }  # fmt: skip
    PADDING_ROW = True
    HEADS = tuple(HEAD_CLASSES)
    LAYERS: Any = Layers
    PUBLISHED: dict[str, Any] = {}  # the published names: set below

    init_weights = staticmethod(normal_init)  # also initialises the layers of a new head at loading

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        self.embed, self.layers = Embeddings(config), self.LAYERS(config)
        add_head(self, self.HEAD_CLASSES)
        self.distances = self.table(config) if config.relative_attention else None
        self.late = config.emd_steps if head == "masked_lm" and not config.position_biased_input else 0
        if self.late:
            self.late_positions = nn.Embedding(config.max_length, config.d_model)
        self.names = names(config, type(self).PUBLISHED)
        self.apply(self.init_weights)

    def table(self, c: Any) -> nn.Embedding:
        """One row for each distance in either direction; `bucket` maps distances to rows."""
        return nn.Embedding(2 * c.max_relative_positions, c.d_model)

    def relative(self, length: int, device: torch.device) -> tuple[Any, Any]:
        """-> the embeddings of the distances [R,E]; and their rows for each window, query to key and key to query
        [N,W]"""
        if self.distances is None:
            return None, None
        span, near = self.distances.num_embeddings // 2, self.max_relative_distance(length)
        right = distance_windows(length, device=device)
        rows = [(near + self.bucket(distance)).clamp(0, 2 * near - 1) for distance in (-right, right)]
        return self.distances.weight[span - near : span + near], rows

    def max_relative_distance(self, length: int) -> int:
        """The largest distance for which a text of this length needs an embedding."""
        return min(length, self.config.max_relative_positions)

    def bucket(self, distance: Tensor) -> Tensor:
        """Signed distances, int64 of any shape -> their buckets, of the same shape: here each distance has its own"""
        return distance

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
        given, targets = (input_ids, attention_mask, token_type_ids, position_ids), {"labels": labels, **targets}
        inputs = encoder_inputs(self, *given, targets)
        return with_head(self, inputs, self.encode(inputs.ids, inputs.mask, inputs.types, inputs.position_ids))

    def encode(self, ids: Tensor, mask: Tensor | None, types: Tensor | None, position_ids: Tensor | None) -> Tensor:
        """ids, types [B,L], mask bool [B,L] or None -> [B,L,E]"""
        x = below = self.embed(ids, types, position_ids, mask)
        relative = self.relative(ids.size(1), ids.device)
        for layer in self.layers:
            below, x = x, layer(x, mask, *relative)
        if self.late:
            x = below + embed_ids(self.late_positions, torch.arange(ids.size(1), device=ids.device), "position_ids")
        for _ in range(self.late):
            x = self.layers[-1](below, mask, *relative, query_states=x)
        return x


MODEL = DeBERTa

BODY = {
    **{published: local for published, local in bert.BODY.items() if ".self." not in published and local != "pooler"},
    "embeddings.embed_proj": "embed.embed_proj",
    "encoder.rel_embeddings": "distances",
}
SELF = "encoder.layer.{}.attention.self."
DeBERTa.PUBLISHED = {
    **BODY,
    SELF + "in_proj": "layers.{}.attn.qkv_proj",
    SELF + "q_bias": "layers.{}.attn.q_bias",
    SELF + "v_bias": "layers.{}.attn.v_bias",
    SELF + "pos_proj": "layers.{}.attn.k_distance",
    SELF + "pos_q_proj": "layers.{}.attn.q_distance",
    SELF + "head_logits_proj": "layers.{}.attn.logits_proj",
    SELF + "head_weights_proj": "layers.{}.attn.weights_proj",
}
WORDS = {  # the word head has two names: transformers' original one, and that of the published files
    "cls.predictions.transform.dense": "task_head.dense",
    "cls.predictions.transform.LayerNorm": "task_head.norm",
    "cls.predictions.bias": "task_head.bias",
}, {
    "lm_predictions.lm_head.dense": "task_head.dense",
    "lm_predictions.lm_head.LayerNorm": "task_head.norm",
    "lm_predictions.lm_head.bias": "task_head.bias",
}  # fmt: skip


def names(config: Config, table: dict[str, str]) -> NameMap:
    """The name map, which depends on how positions are used and on the name of the word head."""
    first, second = WORDS if config.legacy else reversed(WORDS)
    body, unread = dict(table), list(bert.CONSTANT)
    if not config.position_biased_input:
        body["embeddings.position_embeddings"] = "late_positions"
    if not config.position_biased_input and not config.emd_steps:
        unread.append(r"embeddings\.position_embeddings\.weight")  # in the published files, but not used
    return NameMap(
        body,
        prefix="deberta.",
        heads={**first, **second, "pooler.dense": "task_head.pool.dense", **bert.TASK_NAMES},
        tied=bert.HF.tied,
        constant=[*unread, r"mask_predictions\..*"],
    )


HF = names(Config(), DeBERTa.PUBLISHED)
HF_HEADS = {
    "DebertaModel": None, "DebertaForMaskedLM": "masked_lm",
    "DebertaForSequenceClassification": "sequence_classification",
    "DebertaForTokenClassification": "token_classification", "DebertaForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIELDS = {
    **bert.ENCODER_FIELDS, "cls_dropout": "head_dropout", "embedding_size": "d_embed",
    "relative_attention": "relative_attention", "pos_att_type": "pos_att_type",
    "max_relative_positions": "max_relative_positions", "position_biased_input": "position_biased_input",
    "talking_head": "talking_head", "pooler_dropout": "pooler_dropout", "pooler_hidden_act": "pooler_activation",
    "emd_steps": "emd_steps", "legacy": "legacy",
}  # fmt: skip
del HF_FIELDS["classifier_dropout"]
HF_FIXED: dict[str, Any] = {}
HF_UNUSED = {"initializer_range", "pooler_hidden_size", "padding_idx", "pooler_size"}
HF_DEFAULTS = {
    "relative_attention": False,
    "pos_att_type": (),
    "position_biased_input": True,
}  # transformers' defaults, for fields that a file omits
