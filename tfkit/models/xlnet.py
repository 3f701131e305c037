"""XLNet (Yang et al. 2019, arXiv:1906.08237): permutation language modelling, bidirectional without mask tokens.

Parent   transformer_xl (by idea)
Differs  the factorisation order is a mask (perm_mask), so distances have both signs; for predicted words
         (target_mapping), a second stream of states knows the position but not the word; scores also depend on whether
         two words are in one segment; no adaptive vocabulary; BERT's tasks. A target that may attend to nothing, not
         even a memory, gives zeros
Trained  objectives.permutation_lm (head "masked_lm": labels are the tokens at the targets)
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ..namemap import NameMap
from ..nn import Dropout, FeedForward
from ..nn.feed_forward import get_activation
from ..nn.relative_attention import TwoStreamAttention, TwoStreamContext, sinusoidal_distances
from . import _base, _summary_heads, bert
from . import _task_heads as task_heads
from ._base import LABEL_FIELDS, TIED_FIELDS, Model, add_head, configuration, normal_init, to_bool_mask, to_padding_mask
from ._checks import check_ids, check_mems, embed_ids
from ._output import Output


@configuration
class Config:
    vocab_size: int = 32000
    d_model: int = 1024
    n_layers: int = 24
    n_heads: int = 16
    d_ff: int = 4096
    activation: str = "gelu"
    attn_type: str = "bi"  # or "uni": causal, whatever the order
    same_length: bool = False  # for "uni": whether all words see equally many keys
    bi_data: bool = False  # whether the second half of a batch is read backwards
    clamp_len: int = -1  # larger distances are clamped to it; 0 or less: no limit
    mem_len: int | None = None  # the number of states that are remembered; default all
    reuse_len: int | None = None  # the number of new states that are remembered, from the first
    use_mems_eval: bool = True
    use_mems_train: bool = False
    dropout: float = 0.1
    summary_type: str = "last"  # the summary of a sequence: first, last, mean
    summary_use_proj: bool = True
    summary_activation: str | None = "tanh"
    summary_dropout: float = 0.1
    eps: float = 1e-12
    n_start: int = 5
    n_end: int = 5
    num_labels: int = 2
    id2label: dict[str, Any] | None = None
    label2id: dict[str, Any] | None = None
    tie_word_embeddings: bool = True
    problem_type: str | None = None
    bos_token_id: int | None = 1
    eos_token_id: int | None = 2
    pad_token_id: int | None = 5
    head_dropout: ClassVar[float] = 0.0  # dropout has been applied to the states already

    def __post_init__(self) -> None:
        object.__setattr__(self, "num_labels", len(self.id2label or range(self.num_labels)))
        if self.attn_type not in ("bi", "uni"):
            raise ValueError(f"attn_type {self.attn_type!r} must be 'bi' or 'uni'")


BASE = {"d_model": 768, "n_layers": 12, "n_heads": 12, "d_ff": 3072}
PRESETS: dict[str, dict[str, Any]] = {"xlnet-base-cased": BASE, "xlnet-large-cased": {}}


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.attn = TwoStreamAttention(c.d_model, c.n_heads, c.dropout)
        self.ff = FeedForward(c.d_model, c.d_ff, get_activation(c.activation), c.dropout)
        self.norm1, self.norm2 = (nn.LayerNorm(c.d_model, c.eps) for _ in range(2))
        self.drop = Dropout(c.dropout)

    def forward(
        self, h: Tensor, g: Any, context: TwoStreamContext, memory: Tensor | None = None, last: bool = False
    ) -> list[Tensor | None]:
        """As in `TwoStreamAttention` -> both streams, None for a stream that is not used afterwards"""
        streams = zip((h, g), self.attn(h, g, context, memory, last), strict=True)
        return [None if attended is None else self.finish(x, attended) for x, attended in streams]

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """x and the attention's output, both [...,E] -> [...,E]; norms come after the residual additions"""
        x = self.norm1(x + self.drop(attended))
        return self.norm2(x + self.drop(self.ff(x)))


class Embeddings(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.tokens = nn.Embedding(c.vocab_size, c.d_model)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, c.d_model))  # replaces the hidden word in the query stream
        self.drop = Dropout(c.dropout)


class SequenceClassificationHead(_summary_heads.Summary, task_heads.SequenceHead):
    """Classifies the summary of a text."""

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.logits_proj = nn.Linear(c.d_model, c.num_labels)

    def scores(self, inputs: _base.HeadInputs) -> Tensor:
        return self.logits_proj(self.summarise(inputs))


class MultipleChoiceHead(_summary_heads.Summary, task_heads.ChoiceHead):
    """Scores the summary of each choice."""

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.logits_proj = nn.Linear(c.d_model, 1)

    def scores(self, inputs: _base.HeadInputs) -> Tensor:
        return self.logits_proj(self.summarise(inputs))


class XLNet(Model):
    HEAD_CLASSES = {
        None: _base.NoHead, "masked_lm": _base.TiedLM, "sequence_classification": SequenceClassificationHead,
        "token_classification": task_heads.TokenClassificationHead,
        "question_answering": task_heads.QuestionAnsweringHead,
        "beam_question_answering": _summary_heads.BeamQuestionAnsweringHead, "multiple_choice": MultipleChoiceHead,
    }  # fmt: skip
    HEADS = tuple(HEAD_CLASSES)

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        self.embed = Embeddings(config)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.n_layers))
        add_head(self, self.HEAD_CLASSES)
        self.apply(self.init_weights)

    def init_weights(self, module: nn.Module) -> None:
        normal_init(module)
        if isinstance(module, (TwoStreamAttention, Embeddings)):
            for parameter in module.parameters(recurse=False):
                nn.init.normal_(parameter, std=0.02)

    def masks(
        self, non_padding: Tensor | None, perm_mask: Tensor | None, ids: Tensor, keys: int
    ) -> tuple[Tensor | None, Tensor | None]:
        """non_padding bool [B,L], perm_mask [B,L,L], nonzero where i may not see j -> the masks of both streams, bool
        [B,L,K] or None: the content stream also sees its own word"""
        c, (batch, length), past, visible = self.config, ids.shape, keys - ids.size(1), None
        at, key = torch.arange(length, device=ids.device)[:, None], torch.arange(keys, device=ids.device)
        if c.attn_type == "uni":
            visible = ((key <= at + past) & ((key >= at) | (not c.same_length))).expand(batch, -1, -1)
        if non_padding is not None or perm_mask is not None:
            data = ids.new_ones(batch, length, length, dtype=torch.bool) if perm_mask is None else perm_mask == 0
            data = data if non_padding is None else data & non_padding[:, None]
            data = torch.cat([data.new_ones(batch, length, past), data], dim=2)
            visible = data if visible is None else data & visible
        if visible is None:
            return None, None
        return visible | (key == at + past), visible

    def position_encodings(self, length: int, keys: int, like: Tensor) -> list[Tensor]:
        """The encodings of the distances from far back to far ahead, [R,E] for each direction of reading"""
        c = self.config
        distances = torch.arange(keys - 1, -length, -1, device=like.device)
        distances = distances.clamp(-c.clamp_len, c.clamp_len) if c.clamp_len > 0 else distances
        ways = (distances, -distances) if c.bi_data else (distances,)
        return [self.embed.drop(sinusoidal_distances(way, c.d_model, like)) for way in ways]

    def encode(
        self,
        ids: Tensor,
        non_padding: Tensor | None,
        types: Tensor | None,
        perm_mask: Tensor | None,
        target_mapping: Tensor | None,
        mems: Sequence[Tensor] | None,
        use_mems: bool,
    ) -> tuple[Tensor, tuple[Tensor, ...] | None]:
        """ids, types [B,L], non_padding bool [B,L] or None, perm_mask [B,L,L], target_mapping [B,P,L], mems -> [B,L,E]
        or [B,P,E], mems"""
        drop = self.embed.drop
        h = drop(embed_ids(self.embed.tokens, ids, "input_ids"))
        memory = [None] * len(self.layers) if mems is None else check_mems(mems, ids, self.config)
        g, same_segment, past = None, None, 0 if mems is None else mems[0].size(0)
        keys = past + ids.size(1)
        if target_mapping is not None:
            target_mapping, g = (
                target_mapping.to(h.dtype),
                drop(self.embed.mask_token.expand(len(ids), target_mapping.size(1), -1)),
            )
        if types is not None:
            of_keys = torch.cat([types.new_zeros(len(ids), past), types], dim=1)
            same_segment = (types[:, :, None] == of_keys[:, None]).to(h.dtype)
        position_encodings, masks, kept = (
            self.position_encodings(ids.size(1), keys, h),
            self.masks(non_padding, perm_mask, ids, keys),
            [],
        )
        context = TwoStreamContext(position_encodings, masks[0], masks[1], same_segment, target_mapping)
        for layer, before in zip(self.layers, memory, strict=True):
            kept += [self.update_mems(before, h)] if use_mems else []
            h, g = layer(h, g, context, before, layer is self.layers[-1])
        return drop(h if g is None else g), tuple(kept) or None

    @torch.no_grad()
    def update_mems(self, before: Tensor | None, h: Tensor) -> Tensor:
        """The memory for the next segment: the last states of this layer's input, [M,B,E] as in transformers"""
        new = h[:, : self.config.reuse_len or None]
        whole = new if before is None else torch.cat([before, new], dim=1)
        return whole[:, -(self.config.mem_len or 0) :].transpose(0, 1).detach()

    def check(self, ids: Tensor, types: Tensor | None, perm_mask: Tensor | None, target_mapping: Tensor | None) -> None:
        """Raises an error in one line for inputs that do not fit the ids [B,L]"""
        (batch, length), targets = ids.shape, 0 if target_mapping is None else target_mapping.size(1)
        wanted = {
            "token_type_ids": (types, [batch, length]),
            "perm_mask": (perm_mask, [batch, length, length]),
            "target_mapping": (target_mapping, [batch, targets, length]),
        }
        for name, (tensor, shape) in wanted.items():
            if tensor is not None and list(tensor.shape) != shape:
                raise ValueError(f"{name} has shape {list(tensor.shape)}, beside these input_ids it must be {shape}")
        if self.config.bi_data and batch % 2:
            raise ValueError(
                f"input_ids has {batch} rows: bi_data reads half of them backwards, so pass an even number"
            )

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        mems: Sequence[Tensor] | None = None,
        perm_mask: Tensor | None = None,
        target_mapping: Tensor | None = None,
        labels: Tensor | None = None,
        *,
        input_mask: Tensor | None = None,
        use_mems: bool | None = None,
        **targets: Any,
    ) -> Output:
        """input_ids, attention_mask, token_type_ids [B,L] ([B,C,L] for multiple choice); input_mask [B,L]: instead of
        attention_mask, 1 = padding; mems: of the last segment, per layer [M,B,E]; perm_mask [B,L,L]: nonzero where i
        may not see j; target_mapping [B,P,L]: 1 at the position of target p; labels and targets depend on the head
        ([B,P] for masked_lm; not shifted) -> Output: loss, logits, or the head's other fields; mems. Raises ValueError
        or TypeError for invalid inputs."""
        c, choices, targets = self.config, 1, self.check_targets({"labels": labels, **targets})
        given = {"input_ids": input_ids, "types": token_type_ids, "perm": perm_mask, "targets": target_mapping}
        if input_mask is not None:
            attention_mask = invert_input_mask(input_mask, attention_mask)
        if self.head == "multiple_choice":
            choices, given, attention_mask = _base.flatten_choices(given, attention_mask)
        ids, types, perm_mask, target_mapping = given.values()
        ids = check_ids("input_ids", ids)
        self.check(ids, types, perm_mask, target_mapping)
        non_padding = to_padding_mask("attention_mask", attention_mask, ids.shape)
        use_mems = (c.use_mems_train if self.training else c.use_mems_eval) if use_mems is None else use_mems
        x, mems = self.encode(ids, non_padding, types, perm_mask, target_mapping, mems, use_mems)
        return Output(
            self.task_head(
                _base.HeadInputs(x, None, self.output_matrix(self.embed.tokens), non_padding, choices), **targets
            ),
            mems=mems,
        )

    def next_token_logits(self, ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """ids, attention_mask [B,L] -> logits [B,V] of the next word, for decoding: a word is appended that no position
        may see"""
        ids = torch.nn.functional.pad(ids, (0, 1))
        non_padding = None if attention_mask is None else torch.nn.functional.pad(attention_mask, (0, 1), value=1)
        last = torch.zeros_like(ids[:, None])
        last[:, :, -1] = 1
        perm_mask = last.expand(-1, ids.size(1), -1)
        return self(ids, non_padding, perm_mask=perm_mask, target_mapping=last, use_mems=False).logits[:, 0]


def invert_input_mask(input_mask: Tensor | None, attention_mask: Tensor | None) -> Tensor | None:
    """input_mask [B,L], 1 = padding, also as floats -> the equivalent attention_mask, bool [B,L]. Raises ValueError if
    both are given."""
    if attention_mask is not None:
        raise ValueError("input_mask is the inverse of attention_mask: pass only one of them")
    if isinstance(input_mask, Tensor) and input_mask.is_floating_point():
        return input_mask <= 0
    padding = to_bool_mask("input_mask", input_mask, getattr(input_mask, "shape", ()))
    return None if padding is None else ~padding


MODEL = XLNet


class XLNetNameMap(NameMap):
    """transformers' matrices are [E,H,D], those here [H*D,E], and the output projection is transposed."""

    def load(self, published: dict[str, Tensor]) -> dict[str, Tensor]:
        return super().load({name: t.flatten(1) if name[-2:] in MATRICES else t for name, t in published.items()})

    def dump(self, local: dict[str, Tensor], *, with_head: bool) -> dict[str, Tensor]:
        found = super().dump(local, with_head=with_head)
        for name in found:
            if name[-2:] in MATRICES:
                found[name] = found[name].unflatten(1, found[name[:-1] + "r_w_bias"].shape)
        return found


MATRICES = (".q", ".k", ".v", ".r", ".o")
ATTENTION = {
    **{letter: f"{letter}_proj.weight" for letter in "qkvro"},
    "r_w_bias": "content_bias", "r_r_bias": "position_bias", "r_s_bias": "segment_bias", "seg_embed": "segment_embed",
}  # fmt: skip
SPANS = {name.removeprefix("qa_outputs."): local for name, local in _summary_heads.NAMES.items() if name[:3] == "qa_"}
HF = XLNetNameMap(
    {
        "word_embedding": "embed.tokens",
        "mask_emb": "embed.mask_token",
        **{f"layer.{{}}.rel_attn.{published}": f"layers.{{}}.attn.{local}" for published, local in ATTENTION.items()},
        "layer.{}.rel_attn.layer_norm": "layers.{}.norm1",
        "layer.{}.ff.layer_1": "layers.{}.ff.up",
        "layer.{}.ff.layer_2": "layers.{}.ff.down",
        "layer.{}.ff.layer_norm": "layers.{}.norm2",
    },
    prefix="transformer.",
    heads={
        "lm_loss.bias": "task_head.bias",
        "sequence_summary.summary": "task_head.summary",
        "logits_proj": "task_head.logits_proj",
        **SPANS,
        **bert.TASK_NAMES,
    },
    transposed=[f"layer.{{}}.rel_attn.{letter}" for letter in "qkvr"],
    tied={"lm_loss.weight": "word_embedding.weight"},
)
HF_HEADS = {
    "XLNetModel": None, "XLNetLMHeadModel": "masked_lm", **bert.task_classes("XLNet"),
    "XLNetForQuestionAnsweringSimple": "question_answering", "XLNetForQuestionAnswering": "beam_question_answering",
}  # fmt: skip
HF_FIELDS = {
    "vocab_size": "vocab_size", "d_model": "d_model", "n_layer": "n_layers", "n_head": "n_heads", "d_inner": "d_ff",
    "ff_activation": "activation", "attn_type": "attn_type", "same_length": "same_length", "bi_data": "bi_data",
    "clamp_len": "clamp_len", "mem_len": "mem_len", "reuse_len": "reuse_len", "use_mems_eval": "use_mems_eval",
    "use_mems_train": "use_mems_train", "dropout": "dropout", "summary_type": "summary_type",
    "summary_use_proj": "summary_use_proj", "summary_activation": "summary_activation",
    "summary_last_dropout": "summary_dropout", "layer_norm_eps": "eps", "start_n_top": "n_start",
    "end_n_top": "n_end", **LABEL_FIELDS, **TIED_FIELDS,
    "bos_token_id": "bos_token_id", "eos_token_id": "eos_token_id", "pad_token_id": "pad_token_id",
}  # fmt: skip
HF_FIXED: dict[str, Any] = {}
HF_UNUSED = {"untie_r", "initializer_range", "d_head", "init", "init_range", "init_std", "max_position_embeddings"}
