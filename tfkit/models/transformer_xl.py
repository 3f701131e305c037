"""Transformer-XL (Dai et al. 2019, arXiv:1901.02860): recurrence over segments, by a memory of earlier states.

Parent   transformer (by idea: its decoder half)
Differs  a memory: the states of earlier segments are keys too, without gradients; so positions are relative distances,
         with separate query biases for content (u) and distance (v); all queries may be limited to the same number of
         keys (same_length); rare words have narrower vectors, in the embeddings and the output (adaptive input and
         softmax)
Trained  objectives.causal_lm, one segment after the other
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..namemap import FusedTensors, NameMap
from ..nn import Cache, Dropout, FeedForward, StaticCache
from ..nn.adaptive_softmax import AdaptiveEmbedding, AdaptiveSoftmax
from ..nn.relative_attention import DistanceContext, RelativeAttention, causal_relative_bias, sinusoidal_distances
from ._base import Model, configuration, normal_init, to_padding_mask
from ._checks import check_ids, check_mems, check_some_layers, check_target, embed_ids
from ._output import Output
from ._task_heads import label_loss


@configuration
class Config:
    vocab_size: int = 267735
    cutoffs: tuple[int, ...] = (20000, 40000, 200000)
    div_val: int = 4  # the factor by which each cluster's embeddings are narrower than those before
    d_model: int = 1024
    d_embed: int = 1024
    n_layers: int = 18
    n_heads: int = 16
    d_head: int = 64
    d_ff: int = 4096
    mem_len: int = 1600
    clamp_len: int = 1000  # larger distances are clamped to it; 0 or less: no limit
    same_length: bool = True
    pre_norm: bool = False
    untie_r: bool = True  # whether each layer has its own u and v
    tie_word_embeddings: bool = True
    tie_projs: tuple[bool, ...] | None = None  # default: all but the first
    dropout: float = 0.1
    attn_dropout: float = 0.0
    eps: float = 1e-5
    num_labels: int = 2  # as many as id2label has, if that is given
    id2label: dict[str, Any] | None = None
    label2id: dict[str, Any] | None = None
    problem_type: str | None = None
    pad_token_id: int | None = None
    eos_token_id: int | None = 0

    def __post_init__(self) -> None:
        ties = self.tie_projs or [False] + [True] * len(self.cutoffs)
        labels = len(self.id2label) if self.id2label else self.num_labels
        for name, value in {"cutoffs": tuple(self.cutoffs), "tie_projs": tuple(ties), "num_labels": labels}.items():
            object.__setattr__(self, name, value)  # lists, when read from a file


PRESETS: dict[str, dict[str, Any]] = {"transfo-xl-wt103": {}}


class Layer(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.attn = RelativeAttention(c.d_model, c.n_heads, d_head=c.d_head, dropout=c.attn_dropout)
        self.ff = FeedForward(c.d_model, c.d_ff, F.relu, c.dropout)
        self.norm1, self.norm2 = (nn.LayerNorm(c.d_model, c.eps) for _ in range(2))
        self.drop, self.pre_norm = Dropout(c.dropout), c.pre_norm

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        context: DistanceContext,
        mask: Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        """x [B,L,E], memory [B,M,E], context: `DistanceContext`, mask bool [B,1,1,K] or None -> [B,L,E]"""
        source, how = torch.cat([memory, x], dim=1), {"mask": mask, "cache": cache}
        if self.pre_norm:
            x = x + self.drop(self.attn(self.norm1(source), x.size(1), context, **how))
            return x + self.drop(self.ff(self.norm2(x)))
        x = self.norm1(x + self.drop(self.attn(source, x.size(1), context, **how)))
        return self.norm2(x + self.drop(self.ff(x)))


class TransformerXL(Model):
    HEADS = (None, "causal_lm", "sequence_classification")
    MASKS_PROMPT_ONLY = True  # padding counts as memory, whose states are zeros

    init_weights = staticmethod(normal_init)  # also initialises the layers of a new head at loading

    def __init__(self, config: Config, head: str | None = None) -> None:
        super().__init__(config, head)
        c = config
        check_some_layers(c)
        self.embed: Any = AdaptiveEmbedding(c.vocab_size, c.d_embed, c.d_model, c.cutoffs, c.div_val)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.n_layers))
        self.drop = Dropout(c.dropout)
        if head == "causal_lm":
            self.task_head = AdaptiveSoftmax(self.embed, c.d_embed, c.tie_word_embeddings, c.tie_projs or ())
        if head == "sequence_classification":
            self.classifier = nn.Linear(c.d_embed, c.num_labels, bias=False)
        attns: list[Any] = [layer.attn for layer in self.layers]
        for attn in () if c.untie_r else attns[1:]:
            attn.content_bias, attn.position_bias = attns[0].content_bias, attns[0].position_bias
        for name, weight in self.named_parameters():
            if "norm" not in name:
                nn.init.zeros_(weight) if "bias" in name else nn.init.normal_(weight, std=0.02)

    @property
    def names(self) -> NameMap:
        """The map of tensor names; what is tied decides which tensors are stored twice."""
        c, tied = self.config, {}
        for i in range(len(c.cutoffs) + 1):
            if c.tie_word_embeddings:
                tied[f"crit.out_layers.{i}.weight"] = f"word_emb.emb_layers.{i}.weight"
            if c.tie_projs[i]:
                tied[f"crit.out_projs.{i}"] = f"word_emb.emb_projs.{0 if c.div_val == 1 else i}"
        return TransformerXLNameMap(BODY, prefix=HF.prefix, heads=HF.heads, tied=tied, constant=HF.constant)

    def initial_mems(self, ids: Tensor) -> list[Tensor]:
        """The initial memory of each layer before the first segment: zeros, which count as states"""
        c, like = self.config, self.embed.tables[0].weight
        return [like.new_zeros(len(ids), c.mem_len, c.d_model)] * c.n_layers

    def hidden(
        self, ids: Tensor, mems: Sequence[Tensor] | None, non_padding: Tensor | None, cache: Cache | None
    ) -> tuple[Tensor, tuple[Tensor, ...] | None]:
        """ids [B,L], mems or None, non_padding bool [B,K] or None -> states [B,L,E], mems"""
        c, (batch, new) = self.config, ids.shape
        x = self.drop(embed_ids(self.embed, ids, "input_ids"))
        if cache is None:
            memory = self.initial_mems(ids) if mems is None else check_mems(mems, ids, c)
            keys = memory[0].size(1) + new
        else:  # the memory is represented by one state of zeros
            memory = [x.new_zeros(batch, 1, c.d_model)] * c.n_layers
            keys = c.mem_len + new if c.mem_len else cache.width(new)
        context, mask = self.attention_context(ids, keys, cache, non_padding, x)
        layer_inputs = []
        for layer, before in zip(self.layers, memory, strict=True):
            x = x if non_padding is None else x * non_padding[:, -new:, None]
            layer_inputs.append((before, x))
            x = layer(x, before, context, mask, cache)
        return self.drop(x), None if cache is not None or not c.mem_len else self.update_mems(layer_inputs)

    def attention_context(
        self, ids: Tensor, keys: int, cache: Cache | None, non_padding: Tensor | None, like: Tensor
    ) -> tuple[DistanceContext, Tensor | None]:
        """The distances that a query may attend to among `keys` positions -> `DistanceContext`, and a mask bool
        [B or 1,1,1,K] or None"""
        c, (batch, new) = self.config, ids.shape
        distances = torch.arange(
            keys - 1, -2, -1, device=ids.device
        )  # the last one is for the future: see `causal_relative_bias`
        position_encodings = sinusoidal_distances(
            distances.clamp(max=c.clamp_len) if c.clamp_len > 0 else distances, c.d_model, like
        )
        causal_bias = None
        if new > 1 or (c.same_length and keys > c.mem_len):
            causal_bias = causal_relative_bias(new, keys, c.mem_len if c.same_length else keys, like).repeat(batch, 1)[
                None
            ]
        hidden: int | Tensor = 0  # the number of the oldest keys that no query attends to
        if isinstance(cache, StaticCache) and not c.mem_len:  # it is wider than the text
            hidden = keys - new - cache.past
        if non_padding is not None and non_padding.size(1) == new:  # padding acts as memory
            hidden = hidden + (non_padding.cumsum(1) == 0).sum(1, keepdim=True)
        mask = None if isinstance(hidden, int) and not hidden else torch.arange(keys, device=ids.device) >= hidden
        context = DistanceContext(self.drop(position_encodings), causal_bias)
        return context, None if mask is None else mask.view(-1, 1, 1, keys)

    @torch.no_grad()
    def update_mems(self, layer_inputs: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, ...]:
        """The last mem_len inputs of each layer, as memory for the next segment, [M,B,E] as in transformers"""
        return tuple(
            torch.cat(pair, dim=1)[:, -self.config.mem_len :].transpose(0, 1).detach() for pair in layer_inputs
        )

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        mems: Sequence[Tensor] | None = None,
        labels: Tensor | None = None,
        *,
        cache: Cache | None = None,
        use_cache: bool = False,
    ) -> Output:
        """input_ids [B,L]; mems: of the last segment, per layer [M,B,E]; labels [B,L] (shifted inside; -100: not
        counted) or [B] -> Output: loss, losses [B,L-1], logits [B,L,V] (log-probabilities; absent if there is a loss)
        or [B,N], last_hidden_state, mems or, for decoding, cache. Raises ValueError or TypeError for invalid inputs."""
        self.require_head(labels)
        ids = check_ids("input_ids", input_ids)
        cache = Cache() if use_cache and cache is None else cache
        if cache is not None and mems is not None:
            raise ValueError("a cache replaces the memory: pass no mems beside it")
        past = 0 if cache is None else cache.past
        non_padding = to_padding_mask("attention_mask", attention_mask, (len(ids), past + ids.size(1)))
        x, mems = self.hidden(ids, mems, non_padding, cache)
        return Output({**self.head_outputs(x, ids, labels), "last_hidden_state": x, "mems": mems, "cache": cache})

    def head_outputs(self, x: Tensor, ids: Tensor, labels: Tensor | None) -> dict[str, Any]:
        """The head's output for the states x [B,L,E]"""
        if self.head == "sequence_classification":
            pad = self.config.pad_token_id
            last = -1 if pad is None else (ids != pad).sum(1) - 1
            logits = self.classifier(x)[torch.arange(len(ids), device=ids.device), last]
            loss = None if labels is None else label_loss(logits, labels, self.config.problem_type)
            return {"loss": loss, "logits": logits}
        if self.head is None or labels is None:
            return {"logits": self.task_head(x, self.embed) if self.head else None}
        check_target("labels", labels, ids.shape, self.config.vocab_size)
        losses = self.task_head.losses(x[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), self.embed)
        count = (labels[:, 1:] != -100).sum().clamp(min=1)
        return {"loss": losses.sum() / count, "losses": losses.view(len(x), -1)}


MODEL = TransformerXL


class TransformerXLNameMap(NameMap):
    """u and v may be stored once for all layers, and a second time for each."""

    def load(self, published: dict[str, Tensor]) -> dict[str, Tensor]:
        published = {name.removeprefix(self.prefix): tensor for name, tensor in published.items()}
        shared = {name: published.pop(name) for name in ("r_w_bias", "r_r_bias") if name in published}
        for layer in range(sum(name.endswith("dec_attn.o_net.weight") for name in published)):
            published |= {f"layers.{layer}.dec_attn.{name}": tensor for name, tensor in shared.items()}
        return super().load(published)


LAYER: dict[str, Any] = {
    "dec_attn.qkv_net": FusedTensors(f"layers.{{}}.attn.{letter}_proj" for letter in "qkv"),
    "dec_attn.o_net": "layers.{}.attn.o_proj",
    "dec_attn.r_net": "layers.{}.attn.r_proj",
    "dec_attn.r_w_bias": "layers.{}.attn.content_bias",
    "dec_attn.r_r_bias": "layers.{}.attn.position_bias",
    "dec_attn.layer_norm": "layers.{}.norm1",
    "pos_ff.CoreNet.0": "layers.{}.ff.up",
    "pos_ff.CoreNet.3": "layers.{}.ff.down",
    "pos_ff.layer_norm": "layers.{}.norm2",
}
BODY = {
    "word_emb.emb_layers.{}": "embed.tables.{}",
    "word_emb.emb_projs.{}": "embed.embed_proj.{}.weight",
    **{f"layers.{{}}.{published}": local for published, local in LAYER.items()},
}
HF = TransformerXLNameMap(
    BODY,
    prefix="transformer.",
    heads={
        "crit.cluster_weight": "task_head.clusters.weight",
        "crit.cluster_bias": "task_head.clusters.bias",
        "crit.out_layers.{}.weight": "task_head.weights.{}",
        "crit.out_layers.{}.bias": "task_head.biases.{}",
        "crit.out_projs.{}": "task_head.projections.{}.weight",
        "score": "classifier",
    },
    constant=[r"pos_emb\.inv_freq"],
)
HF_HEADS = {
    "TransfoXLModel": None, "TransfoXLLMHeadModel": "causal_lm",
    "TransfoXLForSequenceClassification": "sequence_classification",
}  # fmt: skip
HF_FIELDS = {
    "vocab_size": "vocab_size", "cutoffs": "cutoffs", "div_val": "div_val", "d_model": "d_model", "d_embed": "d_embed",
    "n_layer": "n_layers", "n_head": "n_heads", "d_head": "d_head", "d_inner": "d_ff", "mem_len": "mem_len",
    "clamp_len": "clamp_len", "same_length": "same_length", "pre_lnorm": "pre_norm", "untie_r": "untie_r",
    "tie_word_embeddings": "tie_word_embeddings", "tie_projs": "tie_projs", "dropout": "dropout",
    "dropatt": "attn_dropout", "layer_norm_epsilon": "eps", "num_labels": "num_labels", "id2label": "id2label",
    "label2id": "label2id",
    "problem_type": "problem_type", "pad_token_id": "pad_token_id", "eos_token_id": "eos_token_id",
}  # fmt: skip
HF_FIXED = {
    "adaptive": True, "attn_type": 0, "sample_softmax": -1, "proj_share_all_but_first": True,
}  # fmt: skip
HF_UNUSED = {"init", "init_range", "init_std", "proj_init_std", "ext_len", "tgt_len", "trainer_compatible"}
HF_UNUSED |= {"tie_weight"}  # transformers 4 reads tie_word_embeddings instead
