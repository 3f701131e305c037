"""One row for each architecture: a tiny configuration, what it is given, and which laws do not hold for it, and why.

A law that is not in `but` must hold. `test_laws.py` has the laws; a registered architecture without a row fails there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from tfkit import registry
from tfkit.retrieve import DenseIndex, Retriever

VOCAB, LABELS = 41, 3


def drawn(rows: int, length: int, seed: int = 0) -> torch.Tensor:
    """ids [B,L] of words: 0, 1 and 2 are left to padding and to the marks of begin and end"""
    return torch.randint(3, VOCAB, (rows, length), generator=torch.Generator().manual_seed(seed))


def nothing(_model: Any, _ids: torch.Tensor) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, kw_only=True)
class Row:
    """fields: of the tiny Config; head: the one that most laws look at; odd: changes that make widths and numbers odd;
    more: further inputs for ids [B,L]; but: law -> why it does not hold; heads: all of them unless given;
    untaught: heads whose loss is not of all that they say; still: pattern of parameters that rightly move nothing
    under some head -> why; end: the id that ends every sentence; length: of the longest; endless: whether it has no
    table of positions, or one that only distances are read from, or that is stretched; no_attention: why no attention
    can be put in place of its own; later: why it has no figures against transformers (bench/rows.py, docs/parity.json)
    and no bug hunts (autograder/hunts/pages.toml) yet.

    Of its page (tests/pages): page: changes where the tiny Config is not the form that the page has; page_head: where
    not the row's; page_size: changes of a published size, for what the page has beyond it or leaves out;
    page_tolerance; page_softmax: whether the page shows one."""

    fields: dict[str, Any]
    odd: dict[str, Any] = field(default_factory=dict)
    head: str | None = None
    more: Callable[[Any, torch.Tensor], dict[str, Any]] = nothing
    heads: tuple[str | None, ...] | None = None
    but: dict[str, str] = field(default_factory=dict)
    untaught: tuple[str, ...] = ()
    still: dict[str, str] = field(default_factory=dict)
    end: int | None = None
    length: int = 9
    endless: bool = False
    no_attention: str = ""
    later: str = ""
    page: dict[str, Any] = field(default_factory=dict)
    page_head: str | None = None
    page_size: dict[str, Any] = field(default_factory=dict)
    page_tolerance: float = 1e-9
    page_softmax: bool = True

    causal = cached = False  # whether the laws of these names are about it at all

    def inputs(self, model: Any, ids: torch.Tensor, mask: torch.Tensor | None = None) -> dict[str, Any]:
        """What the model is called with, of sentences ids [B,L] (or choices, [B,C,L])."""
        given = {"input_ids": ids} | ({} if mask is None else {"attention_mask": mask})
        return given | self.more(model, ids)

    def read(self, model: Any, ids: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """-> what the main head makes of them, [B,L,·]"""
        out = model(**self.inputs(model, ids, mask))
        return out.last_hidden_state if out.logits is None else out.logits

    def without_padding(self, out: torch.Tensor, length: int) -> torch.Tensor:
        """A row [L,·] of `read`, less what stands for padding."""
        return out[:length]


class Encoder(Row):
    """It reads in both directions."""


class Decoder(Row):
    causal = cached = True

    def ahead(self, model: Any, ids: torch.Tensor) -> torch.Tensor:
        """ids [B,L], later ones of which may change nothing before them -> [B,L,·]"""
        return self.read(model, ids)

    def step(self, model: Any, part: torch.Tensor, cache: Any, end: int, fixed: dict[str, Any]) -> Any:
        """The next ids [B,t]; `end`: how many positions there are with them; fixed: what stays the same."""
        mask = {name: mask[:, :end] for name, mask in fixed.items()}
        return model(input_ids=part, cache=cache, use_cache=True, **mask)

    def prompts(self, model: Any, ids: torch.Tensor) -> dict[str, Any]:
        """What `generate` is given of prompts or sources ids [B,L], of which the second is padded"""
        mask = torch.ones_like(ids)
        mask[1, :2] = 0
        return {"input_ids": ids, "attention_mask": mask}

    def beginning(self, model: Any) -> dict[str, Any]:
        mask = torch.ones(3, self.length, dtype=torch.long)
        mask[1, :2] = 0  # padding on the left, as a batch of prompts has it
        return {"attention_mask": mask}


class Seq2Seq(Row):
    """Its ids are the source; what is read off are the logits for a target of three words."""

    causal = cached = True

    def inputs(self, model: Any, ids: torch.Tensor, mask: torch.Tensor | None = None) -> dict[str, Any]:
        given = super().inputs(model, ids, mask)
        if model.head not in (None, "seq2seq_lm"):  # tasks that read the source alone
            return given
        return given | {"decoder_input_ids": drawn(1, 3, seed=5).expand(len(ids), 3)}

    def without_padding(self, out: torch.Tensor, length: int) -> torch.Tensor:
        return out

    def ahead(self, model: Any, ids: torch.Tensor) -> torch.Tensor:
        source = drawn(len(ids), 5, seed=6)
        return model(**{**super().inputs(model, source), "decoder_input_ids": ids}).logits

    def step(self, model: Any, part: torch.Tensor, cache: Any, end: int, fixed: dict[str, Any]) -> Any:
        return model(decoder_input_ids=part, cache=cache, use_cache=True, **fixed)

    def prompts(self, model: Any, ids: torch.Tensor) -> dict[str, Any]:
        """As of a decoder alone; sources are padded on the right."""
        mask = torch.ones_like(ids)
        mask[1, -2:] = 0
        return {"input_ids": ids, "attention_mask": mask}

    def beginning(self, model: Any) -> dict[str, Any]:
        source, mask = drawn(3, 5, seed=6), torch.ones(3, 5, dtype=torch.long)
        mask[1, 3:] = 0
        return {"encoder_outputs": model.encode(source, mask), "attention_mask": mask}


class WithPassages(Seq2Seq):
    """Its ids are questions, for which passages are found outside: two each. What is read off is of both."""

    def inputs(self, model: Any, ids: torch.Tensor, mask: torch.Tensor | None = None) -> dict[str, Any]:
        self.open(model)
        found = model.retrieve(ids, mask)
        given = {name: found[name] for name in ("context_input_ids", "context_attention_mask", "doc_scores")}
        return given | {"decoder_input_ids": drawn(1, self.length, seed=5).expand(len(ids), self.length)}

    def open(self, model: Any) -> None:
        """Give it an index of five passages."""
        vectors = torch.randn(5, model.question_encoder.config.d_model, generator=torch.Generator().manual_seed(8))
        model.retriever = Retriever(DenseIndex(vectors), drawn(5, 3, seed=9).tolist())

    def read(self, model: Any, ids: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        return super().read(model, ids, mask).unflatten(0, (len(ids), -1)).flatten(1, 2)

    def ahead(self, model: Any, ids: torch.Tensor) -> torch.Tensor:
        return model(**{**self.inputs(model, drawn(len(ids), 5, seed=6)), "decoder_input_ids": ids}).logits

    def prompts(self, model: Any, ids: torch.Tensor) -> dict[str, Any]:
        self.open(model)
        return super().prompts(model, ids)

    def beginning(self, model: Any) -> dict[str, Any]:
        self.open(model)
        return super().beginning(model)


class WithPicture(Row):
    """A picture of three regions comes first; what is read off is the text after it."""

    def read(self, model: Any, ids: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        return super().read(model, ids, mask)[:, 3:]


class Pixels(Row):
    """Its ids are patches of a picture: three rows of three, or one row of any other number."""

    def inputs(self, model: Any, ids: torch.Tensor, mask: torch.Tensor | None = None) -> dict[str, Any]:
        rows = 3 if ids.size(1) == 9 else 1
        patches = torch.randn(VOCAB, 3, 2, 2, generator=torch.Generator().manual_seed(7))[ids]  # [B,L,3,2,2]
        grid = patches.unflatten(1, (rows, -1)).permute(0, 3, 1, 4, 2, 5)  # [B,3,rows,2,columns,2]
        pixels = grid.flatten(4).flatten(2, 3).to(model.norm.weight.dtype)
        return {"pixel_values": pixels, "interpolate_pos_encoding": True}


class TextAndPicture(Row):
    """Beside each text, one picture of nine patches, drawn by the text's first word; what is read off are the states of
    the text, and beside each the vectors of both."""

    def inputs(self, model: Any, ids: torch.Tensor, mask: torch.Tensor | None = None) -> dict[str, Any]:
        reads = model.task_head.TOWERS
        given = super().inputs(model, ids, mask) if "text" in reads else {}
        if "image" in reads:
            patches = torch.randn(VOCAB, 3, 6, 6, generator=torch.Generator().manual_seed(7))
            given["pixel_values"] = patches[ids[:, 0].long() % VOCAB].to(next(model.parameters()).dtype)
        return given | ({"return_loss": True} if model.head is None else {})

    def read(self, model: Any, ids: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        out = model(**self.inputs(model, ids, mask))
        states = out.text_model_output.last_hidden_state  # [B,L,E]
        both = torch.cat([out.text_embeds, out.image_embeds], -1)[:, None]
        return torch.cat([states, both.expand(-1, ids.size(1), -1)], -1)


class Sound(Seq2Seq):
    """Its ids are moments of a sound, two frames each; silence follows until all positions are filled."""

    def features(self, model: Any, ids: torch.Tensor) -> torch.Tensor:
        """ids [B,L] -> [B,5,F]"""
        frames = torch.randn(VOCAB, 5, 2, generator=torch.Generator().manual_seed(7))
        frames = frames[ids.clamp(max=VOCAB - 1)]  # [B,L,5,2]; a word that is added later sounds like the last one
        found = frames.transpose(1, 2).flatten(2)
        silence = max(0, 2 * model.config.max_source_length - found.size(2))
        return torch.nn.functional.pad(found, (0, silence), value=-1.5).to(next(model.parameters()).dtype)

    def inputs(self, model: Any, ids: torch.Tensor, mask: torch.Tensor | None = None) -> dict[str, Any]:
        if model.head == "causal_lm":
            return {"input_ids": ids, "encoder_hidden_states": heard(model, ids)}
        given = super().inputs(model, ids)
        return {"input_features": self.features(model, given.pop("input_ids")), **given}

    def ahead(self, model: Any, ids: torch.Tensor) -> torch.Tensor:
        source = self.features(model, drawn(len(ids), 5, seed=6))
        return model(input_features=source, decoder_input_ids=ids).logits

    def prompts(self, model: Any, ids: torch.Tensor) -> dict[str, Any]:
        return {"input_features": self.features(model, ids)}

    def beginning(self, model: Any) -> dict[str, Any]:
        return {"encoder_outputs": model.encode(self.features(model, drawn(3, 5, seed=6)))}


def heard(model: Any, ids: torch.Tensor) -> torch.Tensor:
    """States [B,4,E] of somebody else's encoder."""
    states = torch.randn(4, model.config.d_model, generator=torch.Generator().manual_seed(6))
    return states.expand(len(ids), -1, -1).to(model.embed.weight.dtype)


def answers(names: tuple[str, ...], head: str | None, ids: torch.Tensor) -> dict[str, torch.Tensor]:
    """What a head learns from, for ids [B,L] or [B,C,L]: each of its targets by name."""
    classes = torch.arange(len(ids)) % 2
    words = {"token_classification": ids % LABELS, "replaced_token": ids % 2}.get(str(head), ids)
    whole = (
        "sequence_classification",
        "image_classification",
        "audio_classification",
        "multiple_choice",
        "next_sentence",
        "sentence_order",
    )
    known = {
        "labels": classes if head in whole else words,
        "bool_masked_pos": ids % 2 == 0,
        "next_sentence_label": classes,
        "sentence_order_label": classes,
        "mc_labels": classes,
        "mc_token_ids": (ids[..., 0] * 0 + ids.size(-1) - 1),
        "start_positions": classes,
        "end_positions": classes + 1,
        "is_impossible": classes,
        "cls_index": classes * 0 + ids.size(-1) - 1,
        "p_mask": torch.zeros(ids.shape, dtype=torch.long),
    }
    return {name: known[name] for name in names if name != "question"}  # which BigBird finds by itself


def choices(head: str | None) -> bool:
    """Whether a head reads [B,C,L]."""
    return head in ("multiple_choice", "double_heads")


def first_is_global(_model: Any, ids: torch.Tensor) -> dict[str, Any]:
    return {"global_attention_mask": torch.zeros_like(ids).index_fill(-1, torch.tensor([0]), 1)}


def question(model: Any, ids: torch.Tensor) -> dict[str, Any]:
    return {"question_lengths": torch.ones(len(ids))} if model.head == "question_answering" else {}


def second_segment(_model: Any, ids: torch.Tensor) -> dict[str, Any]:
    return {"token_type_ids": (torch.arange(ids.size(-1)) > 1).long().expand(ids.shape)}


def picture(model: Any, ids: torch.Tensor) -> dict[str, Any]:
    draw = torch.Generator().manual_seed(7)
    return {"input_modal": torch.randn(1, 3, 5, generator=draw).expand(len(ids), 3, 5).to(model.project.weight.dtype)}


GPT = {"vocab_size": VOCAB, "d_model": 16, "n_layers": 2, "n_heads": 4, "max_length": 24, "num_labels": LABELS}
BERT = {**GPT, "d_ff": 24}
ODD = {"d_model": 15, "n_heads": 3, "n_layers": 1, "vocab_size": 43}
DEBERTA = {**BERT, "relative_attention": True, "pos_att_type": ("c2p", "p2c"), "position_biased_input": False}
SEQ2SEQ = {"vocab_size": VOCAB, "d_model": 16, "n_layers": 2, "n_heads": 4, "d_ff": 24}
BART = {**SEQ2SEQ, "n_decoder_layers": 2, "n_decoder_heads": 4, "d_decoder_ff": 24, "max_length": 24}
BART |= {"num_labels": LABELS}
PROPHET = {**SEQ2SEQ, "n_decoder_layers": 2, "n_decoder_heads": 4, "d_decoder_ff": 24, "max_length": 24}
PROPHET |= {"n_buckets": 8, "decoder_start_token_id": 1, "eos_token_id": 2}
MARIAN = {"pad_token_id": 0, "decoder_start_token_id": 0, "eos_token_id": 2}
T5 = {**SEQ2SEQ, "d_kv": 4, "n_buckets": 8, "num_labels": LABELS}
ALONE = {r"decoder\.\d\.(cross_attn|norm2)": "a decoder alone has nothing to look across to"}
LLAMA = {"vocab_size": VOCAB, "d_model": 16, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2, "d_ff": 24}
LLAMA |= {"max_length": 24, "num_labels": LABELS}
LLAMA_WIDTHS = {field: size for field, size in LLAMA.items() if field != "n_kv_heads"}
ODD_LLAMA = {"d_model": 18, "n_heads": 3, "n_kv_heads": 1, "n_layers": 1, "vocab_size": 43}
YARN = {"rope_type": "yarn", "factor": 4.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False}
YARN |= {"original_max_position_embeddings": 10}
DEEPSEEK = {"vocab_size": VOCAB, "d_model": 16, "n_layers": 2, "n_heads": 4, "d_query_latent": 10, "d_latent": 9}
DEEPSEEK |= {"d_content": 5, "d_rotary": 6, "d_value": 7, "d_ff": 24, "d_expert": 8, "n_dense": 1, "n_experts": 8}
DEEPSEEK |= {"experts_per_token": 3, "expert_groups": 4, "expert_groups_per_token": 2, "max_length": 40}
DEEPSEEK |= {"num_labels": LABELS, "rope_scaling": {**YARN, "truncate": True, "mscale": 1.0, "mscale_all_dim": 1.0}}
ROUTED = "which tokens an expert is given decides a shape, which a graph cannot know beforehand"
GPT_XL = {"vocab_size": VOCAB, "cutoffs": (10, 20), "div_val": 2, "d_model": 16, "d_embed": 16, "n_heads": 4}
XLNET = {**SEQ2SEQ, "num_labels": LABELS}
GPT_XL |= {"d_head": 4, "d_ff": 24, "mem_len": 6, "clamp_len": 5, "num_labels": LABELS}
REFORMER = {"vocab_size": VOCAB, "d_model": 16, "d_head": 4, "n_heads": 2, "d_ff": 24, "layers": ("local", "lsh")}
REFORMER |= {"max_length": 32, "axial_shape": (4, 8), "axial_dims": (6, 10), "local_chunk": 4, "lsh_chunk": 4}
REFORMER |= {"n_buckets": 4, "hash_seed": 3, "num_labels": LABELS}

OTHER_BASE = {"rope_theta": 500.0}  # not the 10000 that a page might have written down
ROWS: dict[str, Row] = {
    "albert": Encoder(
        fields={**BERT, "d_embed": 8, "n_groups": 2, "group_size": 2, "n_layers": 4}, head="masked_lm",
        odd={**ODD, "n_layers": 3, "n_groups": 3, "d_embed": 7},
    ),
    "bart": Seq2Seq(
        fields=BART, head="seq2seq_lm", end=2, odd={**ODD, "n_decoder_heads": 5},
        still=ALONE,
    ),
    "bigbird": Encoder(
        fields={**BERT, "max_length": 64, "block": 4, "n_random": 1}, head="masked_lm", more=question, length=37,
        odd={**ODD, "block": 5},
        still={"pooler": "the published files have one under heads that do not read it"},
        but={"padding": "padding fills blocks up, and the last block, which all look at, is another one"},
        page_tolerance=1e-7,  # the model takes a logarithm in float32

    ),
    "bigbird-causal": Decoder(
        fields={**BERT, "block": 4}, head="causal_lm", heads=("causal_lm",), odd=ODD,
        still={"pooler": "as above"},
    ),
    "bert": Encoder(fields=BERT, head="masked_lm", odd=ODD),
    "bert_generation": Decoder(
        fields={name: size for name, size in BERT.items() if name != "num_labels"}, head="causal_lm", odd=ODD
    ),
    "bloom": Decoder(
        fields={**LLAMA, "n_kv_heads": None, "d_ff": None, "pad_token_id": 0}, head="causal_lm",
        odd={"d_model": 18, "n_heads": 6, "vocab_size": 43, "residual_after_norm": True, "tie_word_embeddings": False},
        endless=True,
    ),
    "convbert": Encoder(
        fields={**BERT, "d_embed": 8, "n_groups": 2, "conv_kernel_size": 3}, head="masked_lm",
        odd={**ODD, "d_embed": 7, "n_groups": 1, "n_heads": 4, "d_model": 20, "head_ratio": 4},
        but={"padding": "a convolution reads what stands for padding, as published"},
        still={r"layers\.1\.norm2\.bias": "the choices are weighed by straight lines: it lifts all of them alike"},
        page={"n_groups": 1},
    ),
    "clip": TextAndPicture(
        fields={**BERT, "eos_token_id": 2, "d_image": 12, "n_image_layers": 2, "n_image_heads": 3, "d_image_ff": 20,
                "image_size": 6, "patch_size": 2, "d_projected": 10},
        odd={**ODD, "d_image": 7, "n_image_heads": 1, "n_image_layers": 1, "patch_size": 3, "d_projected": 5,
             "activation": "gelu"},
        untaught=("text_encoder", "image_encoder", "text_projection", "image_projection"),
        still={r"image\.norm\.": "a classifier reads the patches' states, which have no norm after them"},
    ),
    "ctrl": Decoder(fields=GPT, head="causal_lm", odd={"d_model": 18, "n_heads": 3}, page={"d_ff": 24}),
    "deberta": Encoder(
        fields=DEBERTA, head="masked_lm", odd={**ODD, "d_embed": 7, "talking_head": True},
        endless=True, page={"emd_steps": 2}, page_size={"emd_steps": 2},
    ),
    "deberta_v2": Encoder(
        fields={**DEBERTA, "position_buckets": 4, "norm_rel_ebd": "layer_norm", "share_att_key": True,
                "conv_kernel_size": 3},
        head="masked_lm", odd={**ODD, "conv_groups": 3},
        endless=True, page={"conv_activation": "gelu"},
    ),
    "deepseek_v3": Decoder(
        fields=DEEPSEEK, head="causal_lm", but={"compile": ROUTED},
        odd={"d_model": 15, "n_heads": 3, "vocab_size": 43, "d_query_latent": None, "expert_groups": 1,
             "expert_groups_per_token": 1, "interleaved": False, "normalize_weights": False, "rope_scaling": None,
             "n_shared": 2},
        still={r"layers\.1\.ff\.experts": "a classifier reads the last token, which takes three experts"},
        endless=True,
    ),
    "distilbert": Encoder(fields=BERT, head="masked_lm", odd=ODD),
    "dpr": Encoder(
        fields=BERT, head=None, odd={**ODD, "projection_dim": 5}, untaught=("reader",),
        page_head="question_encoder",
    ),
    "electra": Encoder(fields={**BERT, "d_embed": 8}, head="replaced_token", odd={**ODD, "d_embed": 7}),
    "encoder_decoder": Seq2Seq(
        fields={"encoder": {"architecture": "bert", **BERT}, "decoder": {"architecture": "gpt2", **GPT},
                "decoder_start_token_id": 1, "eos_token_id": 2},
        head="seq2seq_lm", still={r"encoder\.pooler": "the decoder looks at the states"},
        odd={"encoder": {"architecture": "roberta", **BERT, **ODD, "vocab_size": VOCAB}},
        page={"decoder": {"architecture": "bert", **BERT}},
    ),
    "flaubert": Encoder(fields={**GPT, "pad_token_id": 0}, head="masked_lm", odd={**ODD, "pre_norm": True}),
    "funnel": Encoder(
        fields={"vocab_size": VOCAB, "block_sizes": (1, 1), "n_decoder_layers": 1, "d_model": 16, "n_heads": 4,
                "d_head": 4, "d_ff": 24, "num_labels": LABELS}, head="masked_lm",
        odd={"d_model": 18, "n_heads": 3, "d_head": 5, "pooling_type": "max"},
        still={r"layers\.1\.0\.attn\.(content|position|segment)_": "a classifier reads the first token: all are near"},
        but={"padding": "pooling mixes what stands for padding with its neighbours, as published"},
        endless=True, page={"block_sizes": (2, 2, 1)},
    ),
    "gpt": Decoder(fields=GPT, head="causal_lm", odd=ODD),
    "gpt2": Decoder(fields=GPT, head="causal_lm", odd=ODD),
    "gpt3": Decoder(fields={**GPT, "window": 4}, head="causal_lm", odd={**ODD, "d_head": 3, "window": 1}),
    "gpt_neo": Decoder(
        fields={**GPT, "window": 4, "attention_types": ((("global", "local"), 1),)}, head="causal_lm",
        odd={**ODD, "window": 3, "attention_types": ((("local",), 1),)},
    ),
    "gemma2": Decoder(
        fields={**LLAMA, "d_head": 6, "window": 4, "scale_width": 7, "score_cap": 3.0, "logit_cap": 4.0},
        head="causal_lm", odd={**ODD_LLAMA, "score_cap": None, "logit_cap": None, "tie_word_embeddings": False},
        endless=True, page=OTHER_BASE,
    ),
    "gemma3": Decoder(
        fields={**LLAMA, "d_head": 6, "window": 4, "scale_width": 7, "period": 2}, head="causal_lm",
        odd={**ODD_LLAMA, "logit_cap": 4.0},
        endless=True,
    ),
    "gpt_neox": Decoder(
        fields={**LLAMA, "rotary_fraction": 0.5}, head="causal_lm",
        odd={"d_model": 18, "n_heads": 3, "vocab_size": 43, "parallel": False, "rotary_fraction": 1.0},
        endless=True,
        # two rotated pairs: the first turns alike for any base; Pythia's activation, which is not GPT-NeoX-20B's
        page={"n_heads": 2, "activation": "gelu", **OTHER_BASE},
    ),
    "gpt_oss": Decoder(
        fields={**LLAMA, "d_head": 6, "window": 4, "n_experts": 4, "experts_per_token": 2, "router_logits": True,
                "gate_limit": 0.2, "rope_scaling": YARN, "pad_token_id": 0}, head="causal_lm",
        but={"compile": ROUTED},
        odd={**ODD_LLAMA, "n_experts": 3, "experts_per_token": 3, "attn_bias": False, "rope_scaling": None},
        endless=True,
    ),
    "gptj": Decoder(fields={**GPT, "rotary_dim": 2}, head="causal_lm", odd={**ODD, "d_model": 18, "rotary_dim": None}),
    "llama": Decoder(
        fields=LLAMA, head="causal_lm",
        odd={**ODD_LLAMA, "d_head": 4, "attn_bias": True, "ff_bias": True, "tie_word_embeddings": True},
        endless=True, page=OTHER_BASE,
    ),
    "llada": Encoder(
        fields={**LLAMA, "mask_token_id": 2, "pad_token_id": 0}, head="masked_lm", odd={**ODD_LLAMA, "attn_bias": True},
        endless=True, page={"n_kv_heads": None, **OTHER_BASE},
    ),
    "longformer": Encoder(
        fields={**BERT, "max_length": 40, "n_types": 1, "window": 4}, head="masked_lm", more=first_is_global,
        odd={**ODD, "window": 2},
        but={"compile": "how many tokens are global decides a shape, which a graph cannot know beforehand"},
        still={r"layers\.1\.attn\.[qkv]_proj": "a classifier reads the global token, which has projections of its own"},
    ),
    "m2m_100": Seq2Seq(fields={**BART, "pad_token_id": 0}, head="seq2seq_lm", odd={**ODD, "n_decoder_heads": 5}),
    "mamba2": Decoder(
        fields={"vocab_size": VOCAB, "d_model": 16, "n_layers": 2, "n_heads": 4, "d_head": 8, "d_state": 6,
                "n_groups": 2, "chunk": 4}, head="causal_lm",
        odd={"d_model": 15, "n_heads": 3, "d_head": 10, "n_groups": 1, "kernel": 1, "vocab_size": 43, "bias": True,
             "tie_word_embeddings": True, "step_limit": (0.3, 0.8)},
        but={"static cache": "its state already has a fixed size",
             "weights shown": "it attends to nothing, so there are no weights"},
        endless=True, page_softmax=False, no_attention="it has none",
    ),
    "marian": Seq2Seq(
        fields={**BART, **MARIAN}, head="seq2seq_lm", odd={"d_model": 18, "n_heads": 3, "n_decoder_heads": 1},
        still=ALONE,
        page={"scale_embedding": True, "activation": "swish"},
    ),
    "mbart": Seq2Seq(
        fields={**BART, "pad_token_id": 0}, head="seq2seq_lm", end=2, odd={**ODD, "n_decoder_heads": 5}, still=ALONE,
        page={"scale_embedding": True},
    ),
    "mistral": Decoder(
        fields={**LLAMA, "window": 4}, head="causal_lm", odd={**ODD_LLAMA, "window": 1},
        endless=True, page=OTHER_BASE,
    ),
    "mixtral": Decoder(
        fields={**LLAMA, "n_experts": 4, "router_logits": True}, head="causal_lm",
        odd={**ODD_LLAMA, "n_experts": 3, "experts_per_token": 3},
        but={"compile": ROUTED},
        still={r"layers\.1\.ff\.experts": "a classifier reads the last token, which takes two experts"},
        endless=True, page={"router_logits": False, **OTHER_BASE},
    ),
    "mmbt": WithPicture(
        fields={"text_config": {"architecture": "bert", **BERT}, "image_config": None, "modal_hidden_size": 5},
        head=None, more=picture,
        odd={"text_config": {"architecture": "bert", **BERT, **ODD}},
        page_head="sequence_classification", page_size={"image_config": None},
    ),
    "modernbert": Encoder(
        fields={**LLAMA_WIDTHS, "n_layers": 3, "window": 4, "pad_token_id": 0}, head="masked_lm",
        odd={"d_model": 18, "n_heads": 3, "vocab_size": 43, "attn_bias": True, "ff_bias": True, "norm_bias": True,
             "logits_bias": False, "window": 1, "n_layers": 2},
        endless=True,
    ),
    "mt5": Seq2Seq(fields=T5, head="seq2seq_lm", end=1, odd={**ODD, "d_kv": 3}, endless=True),
    "olmo2": Decoder(
        fields={**LLAMA, "pad_token_id": 0}, head="causal_lm", odd={**ODD_LLAMA, "attn_bias": True},
        endless=True, page={"n_kv_heads": None, **OTHER_BASE},
    ),
    "opt": Decoder(
        fields={**GPT, "d_ff": 24, "pad_token_id": 0}, head="causal_lm",
        odd={**ODD, "d_embed": 7, "pre_norm": False, "biases": False},
    ),
    "pegasus": Seq2Seq(
        fields=BART, head="seq2seq_lm", odd={"d_model": 18, "n_heads": 3, "n_decoder_heads": 1}, still=ALONE,
        page={"scale_embedding": True, "activation": "relu"},
    ),
    "phi3": Decoder(
        fields={**LLAMA, "pad_token_id": 0, "window": 4}, head="causal_lm", odd={**ODD_LLAMA, "rotary_fraction": 0.5},
        endless=True, page={"n_kv_heads": None, **OTHER_BASE},
    ),
    "prophetnet": Seq2Seq(
        fields=PROPHET, head="seq2seq_lm", odd={**ODD, "n_decoder_heads": 5, "ngram": 3}, untaught=("encoder",),
        still=ALONE,
        page={"ngram": 3},
    ),
    "qwen2": Decoder(
        fields={**LLAMA, "use_window": True, "window": 4, "first_windowed": 1}, head="causal_lm", odd=ODD_LLAMA,
        endless=True, page={"tie_word_embeddings": True, "use_window": False, **OTHER_BASE},
    ),
    "qwen3": Decoder(
        fields={**LLAMA, "d_head": 6}, head="causal_lm", odd={**ODD_LLAMA, "attn_bias": True},
        endless=True, page={"tie_word_embeddings": True, **OTHER_BASE},
    ),
    "qwen3_moe": Decoder(
        fields={**LLAMA, "d_head": 6, "d_expert": 12, "n_experts": 4, "experts_per_token": 2, "router_logits": True},
        head="causal_lm",
        odd={**ODD_LLAMA, "n_layers": 2, "dense_layers": (0,), "n_experts": 3, "window": 2, "attn_bias": True,
             "normalize_weights": False, "tie_word_embeddings": True},
        but={"compile": ROUTED},
        still={r"layers\.1\.ff\.experts": "a classifier reads the last token, which takes two experts"},
        endless=True, page={"router_logits": False, **OTHER_BASE},
    ),
    "qwen3_next": Decoder(
        fields={**LLAMA, "d_head": 8, "rotary_fraction": 0.5, "attention_interval": 2, "n_key_heads": 2,
                "n_value_heads": 4, "d_key": 5, "d_value": 6, "d_expert": 12, "d_shared": 10, "n_experts": 4,
                "experts_per_token": 2, "router_logits": True},
        head="causal_lm",
        odd={**ODD_LLAMA, "n_layers": 2, "d_head": 6, "layer_types": ("full_attention", "linear_attention"),
             "n_key_heads": 3, "n_value_heads": 3, "d_key": 1, "kernel": 1, "dense_layers": (0,), "n_experts": 3,
             "attn_bias": True, "normalize_weights": False, "tie_word_embeddings": True},
        but={"compile": ROUTED,
             "static cache": "its cache of fixed size holds states beside keys and values: `fixed_cache` makes it"},
        still={r"layers\.1\.ff\.experts": "a classifier reads the last token, which takes two experts"},
        endless=True, page={"router_logits": False, **OTHER_BASE},
    ),
    "reformer": Encoder(
        fields=REFORMER, head="masked_lm", length=13,
        odd={"d_model": 15, "d_head": 3, "n_heads": 3, "axial_dims": (7, 8), "layers": ("lsh",), "n_buckets": 6},
        but={
            "compile": "the way back computes inputs again, and hashes are drawn from a generator",
            "padding": "chunks form a ring in which padding takes up room",
        },
        page_head="causal_lm", page={"n_hashes": 2}, page_size={"hash_seed": 0},
    ),
    "reformer-causal": Decoder(
        fields={**REFORMER, "lsh_chunk": 16}, head="causal_lm", heads=("causal_lm",), odd={"axial": False},
        but={
            "compile": "as above: the way back computes inputs again",
            "static cache": "its cache of fixed size holds hashes beside keys and values: `fixed_cache` makes it",
        },
    ),
    "rag": WithPassages(
        fields={"question_encoder": {"architecture": "dpr", **BERT}, "generator": {"architecture": "bart", **BART},
                "n_docs": 2, "reduce_loss": True},
        head="rag_token",
        odd={"question_encoder": {"architecture": "dpr", **BERT, **ODD, "vocab_size": VOCAB},
             "generator": {"architecture": "t5", **T5, "d_model": 15, "n_heads": 3}, "bos_token_id": 1},
    ),
    "rnn_seq2seq": Seq2Seq(
        fields={"vocab_size": VOCAB, "d_embed": 6, "d_hidden": 8}, head="seq2seq_lm",
        odd={"d_embed": 5, "d_hidden": 7, "n_layers": 3, "cell": "lstm", "attention": "dot"},
        but={"static cache": "a recurrent state does not grow: there is nothing to make static",
             "compile": "the compiler does not take torch's own recurrent layers"},
        endless=True, no_attention="the one without attention has none",
    ),
    "roberta": Encoder(fields={**BERT, "n_types": 1}, head="masked_lm", odd=ODD),
    "smollm3": Decoder(
        fields={**LLAMA, "nope_interval": 2, "pad_token_id": 0}, head="causal_lm",
        odd={**ODD_LLAMA, "rotated_layers": (0,), "use_window": True, "window": 2, "tie_word_embeddings": False},
        endless=True, page={"pad_token_id": None, **OTHER_BASE},
    ),
    "t5": Seq2Seq(fields=T5, head="seq2seq_lm", end=1, odd={**ODD, "d_kv": 3}, endless=True),
    "transformer": Seq2Seq(fields=SEQ2SEQ, head="seq2seq_lm", odd={"d_model": 18, "n_heads": 3}),
    "transformer_xl": Decoder(
        fields={**GPT_XL, "n_layers": 2}, head="causal_lm",
        odd={"d_model": 18, "n_heads": 3, "d_head": 5, "mem_len": 5},
        endless=True,
    ),
    "vit": Pixels(
        fields={"d_model": 16, "n_layers": 2, "n_heads": 4, "d_ff": 24, "image_size": 6, "patch_size": 2, "stride": 2,
                "num_labels": LABELS}, head="image_classification",
        odd={"d_model": 15, "n_heads": 3, "n_layers": 1, "d_pooled": 7, "attn_bias": False},
        but={"bad input": "it reads pixels: there are no ids and no mask that could be wrong",
             "padding": "a picture has no padding, and its place decides what a patch means"},
        endless=True,
    ),
    "whisper": Sound(
        fields={**BART, "n_mels": 5, "max_source_length": 24, "pad_token_id": 0, "eos_token_id": 2,
                "decoder_start_token_id": 1, "d_projected": 6},
        head="seq2seq_lm", odd={"d_model": 18, "n_heads": 3, "n_decoder_heads": 1, "n_decoder_layers": 1},
        but={"bad input": "it hears features: there are no ids of the source and no mask that could be wrong",
             "padding": "behind the sound there is silence, which it hears as it hears the rest"},
    ),
    "xlm": Encoder(fields={**GPT, "pad_token_id": 0}, head="masked_lm", odd=ODD, page={"n_langs": 2}),
    "xlm_prophetnet": Seq2Seq(
        fields={**PROPHET, "ngram": 1}, head="seq2seq_lm", odd={**ODD, "n_decoder_heads": 3}, untaught=("encoder",),
        still=ALONE,
        page={"ngram": 2},
    ),
    "xlm_roberta": Encoder(fields={**BERT, "n_types": 1}, head="masked_lm", odd=ODD),
    "xlnet": Encoder(
        fields=XLNET, head="masked_lm", more=second_segment,
        odd={"d_model": 18, "n_heads": 3, "attn_type": "uni", "clamp_len": 2},
        still={r"embed\.mask_token": "the second stream starts there, and is read where targets are named"},
        endless=True,
    ),
}  # fmt: skip


def kind(name: str) -> str:
    """The architecture that a row, or a variant of it ("bigbird-causal"), is about."""
    return name.partition("-")[0]


def ours() -> set[str]:
    """The architectures of this library, without those that other packages have registered."""
    return {name for name, source in registry.sources().items() if source.startswith("tfkit.models.")}


def unfinished() -> set[str]:
    """Those that have neither figures nor bug hunts yet."""
    return {name for name, row in ROWS.items() if row.later}


# Preset -> head, parameters, exactly. Of GPT-3, which was not published, test_gpt3.py has the formula. Whisper's waves
# are not trained, and not counted: transformers counts 1,500 · d_model more.
COUNTS: dict[str, tuple[str | None, int]] = {
    "albert-base-v1": ("masked_lm", 11_221_680),
    "albert-base-v2": ("masked_lm", 11_221_680),
    "albert-large-v1": (None, 17_683_968),
    "albert-large-v2": (None, 17_683_968),
    "albert-xlarge-v1": (None, 58_724_864),
    "albert-xlarge-v2": (None, 58_724_864),
    "albert-xxlarge-v1": (None, 222_595_584),
    "albert-xxlarge-v2": (None, 222_595_584),
    "bart-base": ("seq2seq_lm", 139_420_416),
    "bart-large": ("seq2seq_lm", 406_291_456),
    "bart-large-cnn": ("seq2seq_lm", 406_290_432),
    "base": ("seq2seq_lm", 63_082_496),
    "bert-base-cased": (None, 108_310_272),
    "bert-base-multilingual-cased": (None, 177_853_440),
    "bert-base-uncased": (None, 109_482_240),
    "bert-large-cased": (None, 333_579_264),
    "bert-large-uncased": (None, 335_141_888),
    "bert-share": ("seq2seq_lm", 138_471_738),
    "bert_for_seq_generation_L-24_bbc_encoder": (None, 354_402_304),
    "bert2bert": ("seq2seq_lm", 247_363_386),
    "bert2gpt": ("seq2seq_lm", 262_288_896),
    "big": ("seq2seq_lm", 214_245_376),
    "bigbird-roberta-base": (None, 127_468_800),
    "bigbird-roberta-large": (None, 359_123_968),
    "bloom": ("causal_lm", 176_247_271_424),
    "bloom-1b7": ("causal_lm", 1_722_408_960),
    "bloom-560m": ("causal_lm", 559_214_592),
    "bloom-7b1": ("causal_lm", 7_069_016_064),
    "clip-vit-base-patch16": (None, 149_620_737),
    "clip-vit-base-patch32": (None, 151_277_313),
    "clip-vit-large-patch14": (None, 427_616_513),
    "clip-vit-large-patch14-336": (None, 427_944_193),
    "conv-bert-base": (None, 105_680_520),
    "conv-bert-medium-small": (None, 17_475_888),
    "conv-bert-small": (None, 13_143_768),
    "ctrl": ("causal_lm", 1_637_964_550),
    "deberta-base": (None, 138_601_728),
    "deberta-large": (None, 405_163_008),
    "deberta-v2-xlarge": (None, 884_593_152),
    "deberta-v2-xxlarge": (None, 1_564_549_632),
    "deberta-v3-base": (None, 183_831_552),
    "deberta-v3-large": (None, 434_012_160),
    "deberta-v3-small": (None, 141_304_320),
    "deberta-v3-xsmall": (None, 70_682_112),
    "deberta-xlarge": (None, 757_804_032),
    "deepseek-v3": ("causal_lm", 671_026_404_352),
    "distilbert-base-cased": (None, 65_190_912),
    "distilbert-base-multilingual-cased": (None, 134_734_080),
    "distilbert-base-uncased": (None, 66_362_880),
    "distilroberta-base": ("masked_lm", 82_170_201),
    "dpr-ctx_encoder-multiset-base": ("context_encoder", 108_891_648),
    "dpr-ctx_encoder-single-nq-base": ("context_encoder", 108_891_648),
    "dpr-question_encoder-multiset-base": ("question_encoder", 108_891_648),
    "dpr-question_encoder-single-nq-base": ("question_encoder", 108_891_648),
    "dpr-reader-multiset-base": ("reader", 108_893_955),
    "dpr-reader-single-nq-base": ("reader", 108_893_955),
    "electra-base-discriminator": (None, 108_891_648),
    "electra-base-generator": ("masked_lm", 33_740_602),
    "electra-large-discriminator": (None, 334_092_288),
    "electra-large-generator": ("masked_lm", 51_295_290),
    "electra-small-discriminator": (None, 13_483_008),
    "electra-small-generator": ("masked_lm", 13_546_682),
    "flaubert_base_cased": ("masked_lm", 138_301_817),
    "flaubert_base_uncased": ("masked_lm", 137_389_014),
    "flaubert_large_cased": ("masked_lm", 373_282_937),
    "funnel-transformer/small": (None, 130_973_184),
    "funnel-transformer/medium": (None, 130_973_184),
    "funnel-transformer/intermediate": (None, 177_057_792),
    "funnel-transformer/large": (None, 386_127_872),
    "funnel-transformer/xlarge": (None, 468_021_248),
    "gemma-2-27b": ("causal_lm", 27_227_128_320),
    "gemma-2-2b": ("causal_lm", 2_614_341_888),
    "gemma-2-9b": ("causal_lm", 9_241_705_984),
    "gemma-3-1b": ("causal_lm", 999_885_952),
    "gemma-3-270m": ("causal_lm", 268_098_176),
    "gpt-j-6b": ("causal_lm", 6_050_882_784),
    "gpt-neo-1.3B": ("causal_lm", 1_315_575_808),
    "gpt-neo-125m": ("causal_lm", 125_198_592),
    "gpt-neo-2.7B": ("causal_lm", 2_651_307_520),
    "gpt-neox-20b": ("causal_lm", 20_554_567_680),
    "gpt-oss-120b": ("causal_lm", 116_829_156_672),
    "gpt-oss-20b": ("causal_lm", 20_914_757_184),
    "gpt2": ("causal_lm", 124_439_808),
    "gpt2-large": ("causal_lm", 774_030_080),
    "gpt2-medium": ("causal_lm", 354_823_168),
    "gpt2-xl": ("causal_lm", 1_557_611_200),
    "gpt3-13b": ("causal_lm", 12_936_488_380),
    "gpt3-175b": ("causal_lm", 174_604_259_328),
    "gpt3-2.7b": ("causal_lm", 2_651_553_280),
    "gpt3-6.7b": ("causal_lm", 6_658_404_352),
    "gpt3-large": ("causal_lm", 760_300_032),
    "gpt3-medium": ("causal_lm", 355_871_744),
    "gpt3-small": ("causal_lm", 125_226_240),
    "gpt3-xl": ("causal_lm", 1_315_723_264),
    "llada-8b": ("masked_lm", 8_015_581_184),
    "llama-7b": ("causal_lm", 6_738_415_616),
    "llama-13b": ("causal_lm", 13_015_864_320),
    "llama-2-7b": ("causal_lm", 6_738_415_616),
    "llama-2-70b": ("causal_lm", 68_976_648_192),
    "llama-3-8b": ("causal_lm", 8_030_261_248),
    "llama-3.1-8b": ("causal_lm", 8_030_261_248),
    "llama-3.2-1b": ("causal_lm", 1_235_814_400),
    "llama-3.2-3b": ("causal_lm", 3_212_749_824),
    "longformer-base-4096": (None, 148_659_456),
    "longformer-large-4096": (None, 434_600_960),
    "m2m100_1.2B": ("seq2seq_lm", 1_239_470_080),
    "m2m100_418M": ("seq2seq_lm", 483_905_536),
    "mamba-codestral-7b": ("causal_lm", 7_285_403_648),
    "mamba2-1.3b": ("causal_lm", 1_343_757_312),
    "mamba2-130m": ("causal_lm", 128_989_632),
    "mamba2-2.7b": ("causal_lm", 2_702_599_680),
    "mamba2-370m": ("causal_lm", 368_346_624),
    "mamba2-780m": ("causal_lm", 780_161_280),
    "mbart-large-50": ("seq2seq_lm", 610_879_488),
    "mbart-large-cc25": ("seq2seq_lm", 610_851_840),
    "mbart-large-en-ro": ("seq2seq_lm", 610_851_840),
    "mdeberta-v3-base": (None, 278_218_752),
    "mistral-7b-v0.1": ("causal_lm", 7_241_732_096),
    "mistral-7b-v0.3": ("causal_lm", 7_248_023_552),
    "mixtral-8x22b": ("causal_lm", 140_630_071_296),
    "mixtral-8x7b": ("causal_lm", 46_702_792_704),
    "mmbt-base-uncased": (None, 169_199_680),
    "modernbert-base": ("masked_lm", 149_655_232),
    "modernbert-large": ("masked_lm", 395_881_664),
    "moonlight-16b-a3b": ("causal_lm", 15_960_108_544),
    "mt5-base": ("seq2seq_lm", 582_401_280),
    "mt5-large": ("seq2seq_lm", 1_229_581_312),
    "mt5-small": ("seq2seq_lm", 300_176_768),
    "mt5-xl": ("seq2seq_lm", 3_742_619_648),
    "mt5-xxl": ("seq2seq_lm", 12_921_057_280),
    "olmo-2-13b": ("causal_lm", 13_716_198_400),
    "olmo-2-1b": ("causal_lm", 1_484_916_736),
    "olmo-2-7b": ("causal_lm", 7_298_617_344),
    "openai-gpt": ("causal_lm", 116_534_784),
    "opt-1.3b": ("causal_lm", 1_315_758_080),
    "opt-125m": ("causal_lm", 125_239_296),
    "opt-350m": ("causal_lm", 331_196_416),
    "opt-6.7b": ("causal_lm", 6_658_473_984),
    "opt-66b": ("causal_lm", 65_719_701_504),
    "opus-mt-en-de": ("seq2seq_lm", 73_886_208),
    "pegasus-large": ("seq2seq_lm", 568_699_904),
    "pegasus-xsum": ("seq2seq_lm", 568_699_904),
    "phi-3-medium-4k": ("causal_lm", 13_960_238_080),
    "phi-3-mini-4k": ("causal_lm", 3_821_079_552),
    "prophetnet-large-uncased": ("seq2seq_lm", 391_321_600),
    "pythia-1.4b": ("causal_lm", 1_414_647_808),
    "pythia-160m": ("causal_lm", 162_322_944),
    "pythia-410m": ("causal_lm", 405_334_016),
    "pythia-70m": ("causal_lm", 70_426_624),
    "qwen2.5-0.5b": ("causal_lm", 494_032_768),
    "qwen2.5-1.5b": ("causal_lm", 1_543_714_304),
    "qwen2.5-7b": ("causal_lm", 7_615_616_512),
    "qwen3-0.6b": ("causal_lm", 596_049_920),
    "qwen3-1.7b": ("causal_lm", 1_720_574_976),
    "qwen3-235b-a22b": ("causal_lm", 235_093_634_560),
    "qwen3-30b-a3b": ("causal_lm", 30_532_122_624),
    "qwen3-8b": ("causal_lm", 8_190_735_360),
    "qwen3-next-80b-a3b": ("causal_lm", 79_674_391_296),
    "rag-sequence-base": ("rag_sequence", 515_183_104),
    "rag-sequence-nq": ("rag_sequence", 515_183_104),
    "rag-token-base": ("rag_token", 515_183_104),
    "rag-token-nq": ("rag_token", 515_183_104),
    "rnnencdec": ("seq2seq_lm", 77_963_000),
    "rnnsearch": ("seq2seq_lm", 95_830_000),
    "reformer-crime-and-punishment": ("causal_lm", 2_748_224),
    "reformer-enwik8": ("causal_lm", 149_182_722),
    "roberta-base": ("masked_lm", 124_697_433),
    "roberta-large": ("masked_lm", 355_412_057),
    "roberta-share": ("seq2seq_lm", 153_654_873),
    "roberta2roberta": ("seq2seq_lm", 277_709_913),
    "smollm2-135m": ("causal_lm", 134_515_008),
    "smollm3-3b": ("causal_lm", 3_075_098_624),
    "sutskever2014": ("seq2seq_lm", 546_226_000),
    "t5-11b": ("seq2seq_lm", 11_307_321_344),
    "t5-3b": ("seq2seq_lm", 2_851_598_336),
    "t5-base": ("seq2seq_lm", 222_903_552),
    "t5-large": ("seq2seq_lm", 737_668_096),
    "t5-small": ("seq2seq_lm", 60_506_624),
    "t5-v1_1-base": ("seq2seq_lm", 247_577_856),
    "t5-v1_1-large": ("seq2seq_lm", 783_150_080),
    "t5-v1_1-small": ("seq2seq_lm", 76_961_152),
    "transfo-xl-wt103": ("causal_lm", 285_205_322),
    "xlm-clm-ende-1024": ("masked_lm", 142_422_203),
    "xlm-clm-enfr-1024": ("masked_lm", 141_848_203),
    "vit-base-patch16-224": ("image_classification", 86_567_656),
    "vit-base-patch16-224-in21k": (None, 86_389_248),
    "vit-base-patch16-384": ("image_classification", 86_859_496),
    "vit-huge-patch14-224-in21k": (None, 632_404_480),
    "vit-large-patch16-224": ("image_classification", 304_326_632),
    "whisper-base": ("seq2seq_lm", 71_825_920),
    "whisper-base.en": ("seq2seq_lm", 71_825_408),
    "whisper-large-v2": ("seq2seq_lm", 1_541_384_960),
    "whisper-large-v3": ("seq2seq_lm", 1_541_570_560),
    "whisper-large-v3-turbo": ("seq2seq_lm", 806_958_080),
    "whisper-medium": ("seq2seq_lm", 762_321_920),
    "whisper-medium.en": ("seq2seq_lm", 762_320_896),
    "whisper-small": ("seq2seq_lm", 240_582_912),
    "whisper-small.en": ("seq2seq_lm", 240_582_144),
    "whisper-tiny": ("seq2seq_lm", 37_184_640),
    "whisper-tiny.en": ("seq2seq_lm", 37_184_256),
    "xlm-mlm-100-1280": ("masked_lm", 571_696_960),
    "xlm-mlm-17-1280": ("masked_lm", 571_696_960),
    "xlm-mlm-en-2048": ("masked_lm", 667_119_041),
    "xlm-mlm-ende-1024": ("masked_lm", 142_422_203),
    "xlm-mlm-enfr-1024": ("masked_lm", 141_848_203),
    "xlm-mlm-enro-1024": ("masked_lm", 142_312_528),
    "xlm-mlm-tlm-xnli15-1024": ("masked_lm", 249_071_384),
    "xlm-mlm-xnli15-1024": ("masked_lm", 249_071_384),
    "xlm-roberta-base": ("masked_lm", 278_295_186),
    "xlm-roberta-large": ("masked_lm", 560_142_482),
    "xlnet-base-cased": (None, 116_718_336),
    "xlnet-large-cased": (None, 360_268_800),
    "xprophetnet-large-wiki100-cased": ("seq2seq_lm", 616_079_360),
}
