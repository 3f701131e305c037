"""RAG (Lewis et al. 2020, arXiv:2005.11401): generation from passages that are retrieved from an index.

Parent   bart (by idea), and dpr, which retrieves
Differs  a question encoder finds n_docs passages in an index (`retriever`, see `tfkit.retrieve`); the generator reads
         each with the question, and the passages are marginalised over, by their retrieval probabilities: at every
         token (head "rag_token") or once for the whole answer ("rag_sequence"). These train the question encoder; the
         index stays fixed. Logits, unless marginalised, have a row for each pair of question and passage
Trained  objectives.rag_marginals. As published: labels begin with a start symbol that is read, not predicted; the loss
         is one number per question, or the sum of them (reduce_loss)
"""

from dataclasses import field
from typing import Any

import torch
from torch import Tensor

from .. import registry
from ..namemap import NameMap, SubmodelMaps, map_of
from ..nn import Cache
from ..objectives.rag_marginals import rag_sequence_loss, rag_token_loss, rag_token_marginals
from ._base import Model, configuration, replace_fields, to_bool_mask
from ._checks import check_ids
from ._output import Output

PARTS = {"": "question_enc", "encoder": "generator_enc", "decoder": "generator_dec", "cross": "generator_cross"}
SPECIAL = "bos_token_id", "pad_token_id", "eos_token_id", "decoder_start_token_id"


@configuration
class Config:
    """question_encoder, generator: {"architecture": a name or a published size, **fields of its Config}"""

    question_encoder: dict[str, Any] = field(default_factory=lambda: {"architecture": "dpr"})
    generator: dict[str, Any] = field(default_factory=lambda: {"architecture": "bart-large"})
    n_docs: int = 5
    label_smoothing: float = 0.0
    reduce_loss: bool = False
    exclude_bos_score: bool = False  # for rag_sequence: whether a leading bos in the answers is not counted
    do_marginalize: bool = False
    # whether to return the passages as the generator read them, and their rows in the index
    output_retrieved: bool = False
    do_deduplication: bool = True
    max_combined_length: int = 300
    title_sep: str = " / "
    doc_sep: str = " // "
    bos_token_id: int | None = None  # these four: by default the generator's
    pad_token_id: int | None = None
    eos_token_id: int | None = None
    decoder_start_token_id: int | None = None


PRESETS: dict[str, dict[str, Any]] = {
    f"rag-{kind}-{data}": {} for kind in ("token", "sequence") for data in ("base", "nq")
}


class Documents:
    """The generator's cache, in which a row is a passage, for decoders whose rows are questions."""

    def __init__(self, rows: Cache, n_docs: int) -> None:
        self.rows, self.n_docs = rows, n_docs

    @property
    def length(self) -> int:
        """The number of positions that the generator has read, which is the same for every passage."""
        return self.rows.length

    def repeat_rows(self, index: Tensor) -> Tensor:
        """index int64 [N] of questions -> [N·n_docs], the rows of their passages"""
        return (index.unsqueeze(1) * self.n_docs + torch.arange(self.n_docs, device=index.device)).flatten()

    def reorder(self, index: Tensor) -> None:
        self.rows.reorder(self.repeat_rows(index))

    def reorder_from(self, index: Tensor, prefix_length: int = 0) -> None:
        self.rows.reorder_from(self.repeat_rows(index), prefix_length)

    def crop(self, length: int) -> None:
        self.rows.crop(length)


class RAG(Model):
    HEADS = (None, "rag_token", "rag_sequence")

    def __init__(self, config: Config, head: str | None = None, retriever: Any = None) -> None:
        (_, asks, its), (_, writes, other) = map(registry.resolve_submodel, (config.question_encoder, config.generator))
        unset: dict[str, Any] = {name: getattr(other, name, None) for name in SPECIAL if getattr(config, name) is None}
        super().__init__(replace_fields(config, **unset), head)
        self.question_encoder, self.generator = asks.MODEL(its), writes.MODEL(other, "seq2seq_lm")
        self.retriever: Any = retriever
        models = {"question_encoder": (self.question_encoder, asks), "generator": (self.generator, writes)}
        names = {name: (name, map_of(model, module.HF), True) for name, (model, module) in models.items()}
        self.names = SubmodelMaps(names, HF, prefix="rag.")

    @property
    def last_position(self) -> int:
        return self.generator.last_position

    @property
    def endings(self) -> list[tuple[Any, str, str]]:
        """Where the last states of its models come from; see `_transformers_arguments`."""
        both = (self.generator, "encode", "encoder"), (self.generator, "decode", "decoder")
        return [(self.question_encoder, "encode", ""), *both]

    def name_states(self, states: dict[str, list[Tensor]], out: Output) -> dict[str, Any]:
        """transformers' names of the states of both models"""
        return {f"{PARTS[side]}_hidden_states": tuple(tensors) for side, tensors in states.items() if tensors}

    def name_attentions(self, weights: dict[str, list[Tensor]], out: Output) -> dict[str, Any]:
        """transformers' names of the weights of both models"""
        return {f"{PARTS[side]}_attentions": tuple(tensors) for side, tensors in weights.items()}

    @property
    def position_limit(self) -> int | None:
        return self.generator.position_limit

    def retrieve(
        self, input_ids: Tensor | None, attention_mask: Tensor | None = None, n_docs: int | None = None
    ) -> dict[str, Tensor]:
        """input_ids, attention_mask [B,S]: questions -> dict: context_input_ids, context_attention_mask [B·D,L],
        doc_scores [B,D], retrieved_doc_ids [B,D], question_encoder_last_hidden_state [B,P], one vector per question"""
        if self.retriever is None:
            raise ValueError("set `retriever`, or give context_input_ids, context_attention_mask and doc_scores")
        mask = to_bool_mask("attention_mask", attention_mask, check_ids("input_ids", input_ids).shape)
        question = self.question_encoder(input_ids, mask).pooler_output
        got = self.retriever(question.detach(), input_ids, mask, n_docs or self.config.n_docs)
        return {
            "context_input_ids": got.ids.flatten(0, 1),
            "context_attention_mask": got.mask.flatten(0, 1),
            "doc_scores": (got.vectors @ question.unsqueeze(-1)).squeeze(-1),
            "retrieved_doc_ids": got.rows,
            "question_encoder_last_hidden_state": question,
        }

    def encode_documents(
        self, context_input_ids: Tensor, context_attention_mask: Tensor | None, doc_scores: Tensor, **_: Any
    ) -> Output:
        """The result of `retrieve` -> Output: last_hidden_state [B,D,L,E], mask [B,D,L], doc_scores [B,D]"""
        ids, mask, scores = check_ids("context_input_ids", context_input_ids), context_attention_mask, doc_scores
        if scores is None or scores.dim() != 2 or scores.numel() != len(ids):
            found = "none" if scores is None else list(scores.shape)
            raise ValueError(f"doc_scores must be [B,D], for {len(ids)} rows of context_input_ids; got {found}")
        mask = to_bool_mask("context_attention_mask", torch.ones_like(ids) if mask is None else mask, ids.shape)
        parts = {"last_hidden_state": self.generator.encode(ids, mask).last_hidden_state, "mask": mask}
        return Output({name: part.unflatten(0, scores.shape) for name, part in parts.items()}, doc_scores=scores)

    def encode(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Output:
        """Questions [B,S] -> the generator's encoding of the retrieved passages, one row per question, as from
        `read`"""
        return self.encode_documents(**self.retrieve(input_ids, attention_mask))

    def decode_documents(
        self, ids: Tensor, mask: Tensor | None, retrieved: Output, cache: Any, use_cache: bool
    ) -> Output:
        """ids [B,T], mask [B,K] or None, the result of `encode_documents`, cache: `Documents` -> the generator's
        Output, B·D rows"""
        docs = retrieved["doc_scores"].size(1)
        if len(ids) != len(retrieved["mask"]):
            raise ValueError(f"decoder_input_ids has {len(ids)} rows, but there are {len(retrieved['mask'])} questions")
        return self.generator(
            attention_mask=retrieved["mask"].flatten(0, 1),
            decoder_input_ids=ids.repeat_interleave(docs, 0),
            decoder_attention_mask=None if mask is None else mask.repeat_interleave(docs, 0),
            encoder_outputs=Output(last_hidden_state=retrieved.last_hidden_state.flatten(0, 1)),
            cache=None if cache is None else cache.rows,
            use_cache=use_cache,
        )

    def loss(self, logits: Tensor, scores: Tensor, labels: Tensor, exclude_bos: bool) -> Tensor:
        """logits [B,D,T,V], doc_scores [B,D], labels [B,T], which begin with the start token -> [B]"""
        c = self.config
        targets = torch.cat([labels[:, 1:], labels.new_full((len(labels), 1), c.pad_token_id)], 1)
        non_padding = targets != c.pad_token_id
        if self.head == "rag_token":
            return rag_token_loss(logits, scores, targets, non_padding, c.label_smoothing)
        counted = non_padding.clone()
        if exclude_bos:
            counted[:, 0] &= ~(targets[:, 0] == c.bos_token_id).all()
        return rag_sequence_loss(logits, scores, targets, non_padding, c.label_smoothing, counted)

    def setting(self, name: str, given: Any) -> bool:
        """The given value, or the configuration's if it is None."""
        return getattr(self.config, name) if given is None else given

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        decoder_attention_mask: Tensor | None = None,
        context_input_ids: Tensor | None = None,
        context_attention_mask: Tensor | None = None,
        doc_scores: Tensor | None = None,
        labels: Tensor | None = None,
        *,
        encoder_outputs: Output | None = None,
        cache: Cache | Documents | None = None,
        use_cache: bool = False,
        n_docs: int | None = None,
        do_marginalize: bool | None = None,
        reduce_loss: bool | None = None,
        exclude_bos_score: bool | None = None,
        output_retrieved: bool | None = None,
    ) -> Output:
        """input_ids [B,S] for the retriever; or context_input_ids, context_attention_mask [B·D,L] and doc_scores [B,D];
        or encoder_outputs, as from `encode`; decoder_input_ids or labels [B,T] (-100, padding: not counted) -> Output:
        loss [B] or scalar, logits [B·D,T,V] (rag_token with cache or do_marginalize: log-probabilities [B,T,V]),
        doc_scores [B,D], cache; with output_retrieved the passages. Raises ValueError, TypeError for invalid inputs."""
        self.require_head(labels)
        found: dict[str, Any] = {}
        if encoder_outputs is None:
            given = {"context_input_ids": context_input_ids, "context_attention_mask": context_attention_mask}
            retrieves = context_input_ids is None
            found = (
                self.retrieve(input_ids, attention_mask, n_docs) if retrieves else {**given, "doc_scores": doc_scores}
            )
            encoder_outputs = self.encode_documents(**found)
        scores, loss = doc_scores_of(encoder_outputs), None
        if labels is not None:
            labels = check_ids("labels", labels).masked_fill(labels == -100, self.config.pad_token_id)
        ids = check_ids("decoder_input_ids", labels if decoder_input_ids is None else decoder_input_ids)
        if use_cache and not isinstance(cache, Documents):
            cache = Documents(Cache() if cache is None else cache, scores.size(1))
        logits = self.decode_documents(ids, decoder_attention_mask, encoder_outputs, cache, use_cache).logits
        each = logits.unflatten(0, scores.shape)  # [B,D,T,V]
        if labels is not None:
            loss = self.loss(each, scores, labels, self.setting("exclude_bos_score", exclude_bos_score))
            loss = loss.sum() if self.setting("reduce_loss", reduce_loss) else loss
        if self.head == "rag_token" and (use_cache or self.setting("do_marginalize", do_marginalize)):
            logits = rag_token_marginals(each, scores)
        if not self.setting("output_retrieved", output_retrieved):
            found = {name: found[name] for name in found.keys() & {"question_encoder_last_hidden_state"}}
        found |= {"doc_scores": scores, "generator_enc_last_hidden_state": encoder_outputs[0].flatten(0, 1)}
        return Output(loss=loss, logits=logits, **found, cache=cache)


def doc_scores_of(encoder_outputs: Any) -> Tensor:
    """The scores [B,D] in what `RAG.encode` returned. Raises TypeError for anything else."""
    if not isinstance(encoder_outputs, Output) or "doc_scores" not in encoder_outputs:
        kind = type(encoder_outputs).__name__
        raise TypeError(f"encoder_outputs of type {kind} holds no doc_scores: give what model.encode() returned")
    scores: Tensor = encoder_outputs["doc_scores"]
    return scores


MODEL = RAG

HF = NameMap({})
HF_PARTS: dict[str, dict[str, Any]] = {"question_encoder": {}, "generator": {}}
HF_HEADS = {"RagModel": None, "RagTokenForGeneration": "rag_token", "RagSequenceForGeneration": "rag_sequence"}
HF_FIELDS = {name: name for name in Config.__dataclass_fields__ if name not in HF_PARTS}
HF_FIXED: dict[str, Any] = {}
HF_UNUSED = {
    "vocab_size", "retrieval_vector_size", "retrieval_batch_size", "dataset", "dataset_split", "dataset_revision",
    "index_name", "index_path", "passages_path", "use_dummy_dataset",
}  # fmt: skip
