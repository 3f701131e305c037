"""Reformer (Kitaev et al. 2020, arXiv:2001.04451): a memory-efficient language model for very long texts.

Parent   gpt2 (by idea)
Differs  a position attends to those whose hashes are similar, in one or several rounds (queries are their own keys),
         or, in other layers, to its own chunk and neighbouring ones; reversible layers, whose inputs are recomputed in
         the backward pass, so memory does not grow with depth; the feed-forward network in chunks (ff_chunk); positions
         from two small tables; the two halves of the state are normalised together, so heads read 2 · d_model
         As published: chunks of sorted positions are cut regardless of the buckets, so a later token may change which
         earlier ones attend to each other; chunks form a ring, which shows in layers that are not causal; a text of one
         chunk is not hashed. Each call draws new hashes unless hash_seed is given; a cache keeps its rotations.
Trained  objectives.causal_lm; also masked language modelling
"""

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..namemap import NameMap, Tensors
from ..nn import Dropout, FeedForward, ReversibleBlock, chunked_feed_forward, dropout, reversible
from ..nn.cache import Cache
from ..nn.feed_forward import get_activation
from ..nn.lsh import (
    HashedAttention,
    LocalAttention,
    ReformerCache,
    ReformerContext,
    StaticReformerCache,
    bucket_factors,
)
from ..objectives.cross_entropy import next_labels
from . import _base
from . import _task_heads as task_heads
from ._base import LABEL_FIELDS, Model, TaskConfig, configuration, normal_init, replace_fields, to_padding_mask
from ._checks import check_ids, embed_ids
from ._output import Output


@configuration
class Config(TaskConfig):
    vocab_size: int = 320
    d_model: int = 256
    d_head: int = 64
    n_heads: int = 12
    d_ff: int = 512
    layers: tuple[Any, ...] = ("local", "lsh") * 3
    activation: str = "relu"
    max_length: int = 4096
    axial: bool = True
    axial_shape: tuple[Any, ...] = (
        64,
        64,
    )  # position p is the concatenation of row p // 64 of the first table and row p % 64 of the second
    axial_dims: tuple[Any, ...] = (64, 192)
    axial_std: float = 1.0
    local_chunk: int = 64
    local_before: int = 1
    local_after: int = 0
    lsh_chunk: int = 64
    lsh_before: int = 1
    lsh_after: int = 0
    n_hashes: int = 1
    n_buckets: int | list[Any] | tuple[Any, ...] | None = None  # several: their product; None: chosen by the length
    hash_seed: int | None = None
    ff_chunk: int = 0  # positions at a time in the feed-forward network; 0: all
    dropout: float = 0.05
    local_dropout: float = 0.05
    lsh_dropout: float = 0.0
    head_dropout: float | None = None
    eps: float = 1e-12
    is_decoder: bool | None = None  # by default as the head needs it
    bos_token_id: int | None = None
    eos_token_id: int | None = 2
    pad_token_id: int | None = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.layers or set(self.layers) - {"local", "lsh"}:
            raise ValueError(f"each of layers must be 'local' or 'lsh'; got {list(self.layers)}")
        if any(n % 2 for n in bucket_factors(0, self.n_buckets, self.lsh_chunk, self.max_length)):
            raise ValueError(f"n_buckets must be even; got {self.n_buckets}")
        if self.axial and (len(self.axial_dims) != 2 or sum(self.axial_dims) != self.d_model):
            raise ValueError(f"axial_dims must be two numbers that sum to {self.d_model}; got {list(self.axial_dims)}")


PRESETS: dict[str, dict[str, Any]] = {
    "reformer-crime-and-punishment": {
        "n_heads": 2, "axial_shape": (512, 1024), "max_length": 524288, "n_buckets": (64, 128), "is_decoder": True,
    },
    "reformer-enwik8": {
        "vocab_size": 258, "d_model": 1024, "d_head": 128, "n_heads": 8, "d_ff": 4096, "max_length": 65536,
        "layers": (("local",) * 2 + ("lsh",) + ("local",)) * 3, "axial_shape": (128, 512), "axial_dims": (256, 768),
        "local_chunk": 128, "lsh_chunk": 256, "n_hashes": 4, "n_buckets": 512, "dropout": 0.2, "local_dropout": 0.2,
        "lsh_dropout": 0.1, "is_decoder": True,
    },
}  # fmt: skip


def attention(c: Config, kind: str, index: int) -> HashedAttention | LocalAttention:
    """The attention of layer `index`: "local" or "lsh"."""
    sizes, causal = (c.d_model, c.n_heads, c.d_head), bool(c.is_decoder)
    if kind == "local":
        return LocalAttention(
            *sizes, chunk=c.local_chunk, before=c.local_before, after=c.local_after, causal=causal,
            dropout=c.local_dropout,
        )  # fmt: skip
    return HashedAttention(
        *sizes, chunk=c.lsh_chunk, before=c.lsh_before, after=c.lsh_after, n_hashes=c.n_hashes, n_buckets=c.n_buckets,
        max_length=c.max_length, index=index, same_hashes=c.hash_seed is not None, causal=causal, dropout=c.lsh_dropout,
    )  # fmt: skip


class Sublayer(nn.Module):
    def __init__(self, c: Config, inner: "ChunkedFeedForward | HashedAttention | LocalAttention") -> None:
        super().__init__()
        self.norm, self.inner, self.drop = nn.LayerNorm(c.d_model, c.eps), inner, Dropout(c.dropout)

    def forward(self, x: Tensor, *context: Any) -> Tensor:
        return self.drop(self.inner(self.norm(x), *context))


class ChunkedFeedForward(FeedForward):
    def __init__(self, c: Config) -> None:
        super().__init__(c.d_model, c.d_ff, get_activation(c.activation), c.dropout)
        self.chunk = c.ff_chunk

    def activate(self, x: Tensor) -> Tensor:
        return self.down(self.activation(self.dropout(self.up(x))))

    def forward(self, x: Tensor) -> Tensor:
        return chunked_feed_forward(self.activate, x, self.chunk) if self.chunk else self.activate(x)


class AxialPositions(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        (rows, columns), (one, two) = c.axial_shape, c.axial_dims
        self.tables = nn.ParameterList([torch.empty(rows, 1, one), torch.empty(1, columns, two)])
        self.std, self.columns, self.dropout = c.axial_std, columns, c.dropout

    def forward(self, at: Tensor) -> Tensor:
        """at int64 [B,L] -> [B,L,E]; dropout acts on whole columns, in all rows at once"""
        one, two = (table.flatten(0, 1) for table in self.tables)
        x = torch.cat([F.embedding(at // self.columns, one), F.embedding(at % self.columns, two)], -1)
        if self.training and self.dropout:
            keep = dropout(x.new_ones(len(x), self.columns), self.dropout)
            x = x * keep.gather(1, at % self.columns)[..., None]
        return x


class Positions(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.table, self.drop = nn.Embedding(c.max_length, c.d_model), Dropout(c.dropout)

    def forward(self, at: Tensor) -> Tensor:
        return self.drop(self.table(at))


class LM(_base.WordHead):
    """A language model head for both kinds of model: causal ones predict the next token, others masked tokens."""

    HAS_OUTPUT_MATRIX = False  # the output matrix belongs to this head

    def __init__(self, c: Config) -> None:
        super().__init__(c)
        self.out, self.shift = nn.Linear(2 * c.d_model, c.vocab_size), c.is_decoder

    def scores(self, inputs: _base.HeadInputs) -> Tensor:
        return self.out(inputs.states)

    def targets(self, labels: Tensor) -> Tensor:
        return next_labels(labels) if self.shift else labels


class SequenceClassificationHead(task_heads.ClsTokenClassificationHead):
    def __init__(self, c: Config) -> None:
        super().__init__(c, width=2 * c.d_model)


class QuestionAnsweringHead(task_heads.QuestionAnsweringHead):
    def __init__(self, c: Config) -> None:
        super().__init__(c, width=2 * c.d_model)


class Reformer(Model):
    HEAD_CLASSES = {
        None: _base.NoHead, "causal_lm": LM, "masked_lm": LM, "sequence_classification": SequenceClassificationHead,
        "question_answering": QuestionAnsweringHead,
    }  # fmt: skip
    HEADS = tuple(HEAD_CLASSES)

    def __init__(self, config: Config, head: str | None = None) -> None:
        causal = head == "causal_lm" if config.is_decoder is None else config.is_decoder
        if head in ("causal_lm", "masked_lm") and causal != (head == "causal_lm"):
            raise ValueError(f"is_decoder is {causal}: head {head!r} needs {not causal}")
        if causal and (config.local_after or config.lsh_after):
            raise ValueError("a causal model does not attend to later chunks: local_after and lsh_after must be 0")
        c = config if config.is_decoder == causal else replace_fields(config, is_decoder=causal)
        super().__init__(c, head)
        self.embed, self.drop = nn.Embedding(c.vocab_size, c.d_model), Dropout(c.dropout)
        self.position = AxialPositions(c) if c.axial else Positions(c)
        self.layers = nn.ModuleList(
            ReversibleBlock(Sublayer(c, attention(c, kind, at)), Sublayer(c, ChunkedFeedForward(c)))
            for at, kind in enumerate(c.layers)
        )
        self.norm, self.task_head = nn.LayerNorm(2 * c.d_model, c.eps), self.HEAD_CLASSES[head](c)
        chunks = [{"local": c.local_chunk, "lsh": c.lsh_chunk}[kind] for kind in set(c.layers)]
        self.shortest, self.multiple = min(chunks), math.lcm(*chunks)
        self.apply(self.init_weights)

    @torch.no_grad()
    def init_weights(self, module: nn.Module) -> None:
        normal_init(module)
        if isinstance(module, AxialPositions):
            for table in module.tables:
                nn.init.normal_(table, std=module.std)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        labels: Tensor | None = None,
        *,
        cache: Cache | None = None,
        use_cache: bool = False,
        **targets: Any,
    ) -> Output:
        """input_ids [B,L], labels [B,L] (in a causal model shifted inside; -100: not counted), or as the head needs ->
        Output: loss, logits, last_hidden_state [B,L,2E], cache. With a cache, input_ids are the new ones only and
        attention_mask covers all. Raises ValueError or TypeError for invalid inputs."""
        targets, ids = self.check_targets({"labels": labels, **targets}), check_ids("input_ids", input_ids)
        cache = self.checked_cache(cache, use_cache)
        past = 0 if cache is None else cache.past
        mask = to_padding_mask("attention_mask", attention_mask, (ids.size(0), past + ids.size(1)))
        if isinstance(cache, StaticReformerCache):
            mask = cache.extend_padding_mask(mask)
        x = self.hidden(ids, self.positions(ids, position_ids, past), mask, cache)
        non_padding = mask if mask is None else mask[:, -ids.size(1) :]
        return Output(
            self.task_head(_base.HeadInputs(x, None, self.embed.weight, non_padding, 1), **targets), cache=cache
        )

    def fixed_cache(self, capacity: int, non_padding: Tensor | None) -> StaticReformerCache:
        """A cache of fixed size, which also holds hashes."""
        return StaticReformerCache(capacity, self.seeds(), non_padding)

    def prepare_steps(self) -> bool:
        """False: whether the sorting of buckets can be captured as a CUDA graph has not been tried."""
        return False

    @property
    def last_position(self) -> int:
        """The maximum length of a text."""
        c = self.config
        return min(c.max_length, math.prod(c.axial_shape)) if c.axial else c.max_length

    def checked_cache(self, cache: Cache | None, use_cache: bool) -> ReformerCache | StaticReformerCache | None:
        """The given cache, or a new one if use_cache asks for it. Raises ValueError or TypeError for an invalid one."""
        if use_cache and not self.config.is_decoder:
            raise ValueError("use_cache=True needs a causal model: create it with is_decoder=True or head='causal_lm'")
        cache = ReformerCache(self.seeds()) if use_cache and cache is None else cache
        if not isinstance(cache, ReformerCache | StaticReformerCache | None):
            raise TypeError(f"cache is a {type(cache).__name__}: this model makes its own, with use_cache=True")
        return cache

    def seeds(self) -> list[int]:
        """The seeds of the layers' random rotations."""
        c = self.config
        return torch.randint(2**62, (len(c.layers),)).tolist() if c.hash_seed is None else [c.hash_seed] * len(c.layers)

    def positions(self, ids: Tensor, given: Tensor | None, past: int | Tensor) -> Tensor:
        """ids, given [B,L] or None -> int64 [B,L]. Raises ValueError past the last position, of which a static cache's
        caller takes care."""
        if isinstance(past, int) and past + ids.size(1) > self.last_position:
            raise ValueError(
                f"input_ids reaches position {past + ids.size(1)}, but there are only {self.last_position}"
            )
        return (torch.arange(ids.size(1), device=ids.device) + past if given is None else given).expand_as(ids)

    def hook_states(self, note: Callable[[Tensor], None]) -> list[Any]:
        """Handles of hooks that record the attention's input stream at each layer and after the last one, without the
        padding of the last chunk."""
        length = 0

        def read(_table: Any, args: Any) -> None:
            nonlocal length
            length = args[0].size(1)

        def end(_norm: Any, args: Any) -> None:  # both streams, concatenated
            note(args[0].chunk(2, -1)[1][:, :length])

        at_layer = lambda _sublayer, args: note(args[0][:, :length])
        layers: Any = self.layers
        handles = [layer.f.register_forward_pre_hook(at_layer) for layer in layers]
        return [*handles, self.embed.register_forward_pre_hook(read), self.norm.register_forward_pre_hook(end)]

    def name_states(self, states: dict[str, list[Tensor]], out: Output) -> dict[str, Any]:
        """With a cache, several new tokens pass through all layers one by one."""
        found, each = states[""], len(self.layers) + 1
        return {"hidden_states": tuple(torch.cat(found[layer::each], 1) for layer in range(each))}

    def hidden(
        self,
        ids: Tensor,
        positions: Tensor,
        non_padding: Tensor | None,
        cache: ReformerCache | StaticReformerCache | None,
    ) -> Tensor:
        """ids, positions [B,L], non_padding bool [B,K] or None -> [B,L,2E]"""
        length, past = ids.size(1), 0 if cache is None else cache.past
        if (isinstance(past, Tensor) or past) and length > 1:  # a cached step handles only one position at a time
            ends = [None if isinstance(past, Tensor) else past + at + 1 for at in range(length)]
            parts = [
                self.hidden(
                    ids[:, [at]], positions[:, [at]], None if non_padding is None else non_padding[:, :end], cache
                )
                for at, end in enumerate(ends)
            ]
            return torch.cat(parts, 1)
        if isinstance(past, int) and non_padding is not None:
            non_padding = non_padding[:, : past + length]  # that of a static cache is wider
        x = self.drop(embed_ids(self.embed, ids, "input_ids")) + self.position(positions)
        if isinstance(past, int) and not past and length > self.shortest and (more := -length % self.multiple):
            non_padding = torch.ones_like(ids, dtype=torch.bool) if non_padding is None else non_padding
            x, non_padding = F.pad(x, (0, 0, 0, more)), F.pad(non_padding, (0, more))
        seeds = self.seeds() if cache is None else cache.seeds
        context = ReformerContext(non_padding, length, past, cache, seeds, {} if torch.is_grad_enabled() else None)
        x = torch.cat(reversible(self.layers, x, x, (context,)), -1)
        return self.drop(self.norm(x))[:, :length]


MODEL = Reformer

LAYER = "encoder.layers.{}."


class ReformerNames(NameMap):
    """Files of transformers before 5.24 have one bias of the head, perhaps under both names. From 5.24 on the product
    has its own and the other one takes part in nothing."""

    def drop_tied_copies(self, published: Tensors) -> Tensors:
        """Removes the copy; of two that differ, the product's bias counts."""
        own = published.get("lm_head.decoder.bias")
        return super().drop_tied_copies(published if own is None else {**published, "lm_head.bias": own})


HF = ReformerNames(
    {
        "embeddings.word_embeddings": "embed",
        "embeddings.position_embeddings.weights.{}": "position.tables.{}",
        "embeddings.position_embeddings.embedding": "position.table",
        LAYER + "attention.layer_norm": "layers.{}.f.norm",
        LAYER + "attention.self_attention.query_key": "layers.{}.f.inner.qk_proj",
        LAYER + "attention.self_attention.query": "layers.{}.f.inner.q_proj",
        LAYER + "attention.self_attention.key": "layers.{}.f.inner.k_proj",
        LAYER + "attention.self_attention.value": "layers.{}.f.inner.v_proj",
        LAYER + "attention.output.dense": "layers.{}.f.inner.o_proj",
        LAYER + "feed_forward.layer_norm": "layers.{}.g.norm",
        LAYER + "feed_forward.dense.dense": "layers.{}.g.inner.up",
        LAYER + "feed_forward.output.dense": "layers.{}.g.inner.down",
        "encoder.layer_norm": "norm",
    },
    prefix="reformer.",
    heads={
        "lm_head.bias": "task_head.out.bias",
        "lm_head.decoder": "task_head.out",
        "classifier.dense": "task_head.pre_classifier",
        "classifier.out_proj": "task_head.score",
        "qa_outputs": "task_head.qa_outputs",
    },
    tied={"lm_head.decoder.bias": "lm_head.bias"},
    constant=[r"encoder\.layers\.\d+\.attention\.self_attention\.(self_)?mask_value_float(16|32)"],
)
HF_HEADS = {
    "ReformerModel": None, "ReformerModelWithLMHead": "causal_lm", "ReformerForMaskedLM": "masked_lm",
    "ReformerForSequenceClassification": "sequence_classification",
    "ReformerForQuestionAnswering": "question_answering",
}  # fmt: skip
HF_FIELDS = {
    "vocab_size": "vocab_size", "hidden_size": "d_model", "attention_head_size": "d_head",
    "num_attention_heads": "n_heads", "feed_forward_size": "d_ff", "attn_layers": "layers", "hidden_act": "activation",
    "max_position_embeddings": "max_length", "axial_pos_embds": "axial", "axial_pos_shape": "axial_shape",
    "axial_pos_embds_dim": "axial_dims", "axial_norm_std": "axial_std", "local_attn_chunk_length": "local_chunk",
    "local_num_chunks_before": "local_before", "local_num_chunks_after": "local_after",
    "lsh_attn_chunk_length": "lsh_chunk", "lsh_num_chunks_before": "lsh_before", "lsh_num_chunks_after": "lsh_after",
    "num_hashes": "n_hashes", "num_buckets": "n_buckets", "hash_seed": "hash_seed",
    "chunk_size_feed_forward": "ff_chunk", "hidden_dropout_prob": "dropout", "classifier_dropout": "head_dropout",
    "local_attention_probs_dropout_prob": "local_dropout", "lsh_attention_probs_dropout_prob": "lsh_dropout",
    "layer_norm_eps": "eps", "is_decoder": "is_decoder", **LABEL_FIELDS,
    "bos_token_id": "bos_token_id", "eos_token_id": "eos_token_id", "pad_token_id": "pad_token_id",
}  # fmt: skip
HF_FIXED = {"tie_word_embeddings": False, "add_cross_attention": False}
HF_UNUSED = {"initializer_range", "chunk_size_lm_head", "num_hidden_layers", "num_chunks_before", "num_chunks_after",
             "sinusoidal_pos_embds"}  # fmt: skip
