"""A published config.json in our words, and back. A field that may change the result and is not understood is an error.

A model's module says what it understands: HF_FIELDS (theirs -> ours), HF_FIXED (fields with the one value that it
implements), HF_UNUSED (fields without effect on what a trained model computes), HF_HEADS (class name -> head).
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

# what they call an architecture, where it is not our file's name
NAMES = {"openai-gpt": "gpt", "xlm-roberta": "xlm_roberta"}
# what every published configuration may carry: provenance, and defaults of generation and of output formats
COMMON = {
    "architectures", "transformers_version", "dtype", "torch_dtype", "_name_or_path", "use_cache",
    "task_specific_params",
    "return_dict", "output_attentions", "output_hidden_states", "id2label", "label2id", "problem_type",
    "gradient_checkpointing", "torchscript", "chunk_size_feed_forward", "is_encoder_decoder", "attn_implementation",
    "_attn_implementation_autoset", "_num_labels", "num_labels", "use_bfloat16", "tokenizer_class", "prefix",
    "finetuning_task", "model_type", "tf_legacy_loss", "typical_p", "temperature", "top_k", "top_p",
    "max_length", "min_length", "num_beams", "num_beam_groups", "num_return_sequences", "do_sample", "early_stopping",
    "length_penalty", "repetition_penalty", "diversity_penalty", "no_repeat_ngram_size", "bad_words_ids",
    "encoder_no_repeat_ngram_size", "exponential_decay_length_penalty", "forced_bos_token_id", "forced_eos_token_id",
    "begin_suppress_tokens", "suppress_tokens", "remove_invalid_values", "return_dict_in_generate", "output_scores",
    "sep_token_id", "cross_attention_hidden_size",
}  # fmt: skip


# what would change the result wherever it stands, so that it may only say that nothing is changed
FIXED = {"pruned_heads": {}, "tie_encoder_decoder": False, "is_decoder": False, "add_cross_attention": False}


def read(module: ModuleType, described: dict[str, Any], head: str | None = None) -> tuple[dict[str, Any], str | None]:
    """-> our fields, and the head: the one asked for, or else the one that `architectures` names (a headless model
    where it names none). Raises ValueError for a class, a field or a value that is not understood."""
    name = (described.get("architectures") or [next(iter(module.HF_HEADS))])[0]
    if head is None and name not in module.HF_HEADS:
        raise ValueError(f"architectures names {name!r}; understood are {', '.join(module.HF_HEADS)}")
    free = {*module.HF_FIELDS, *module.HF_UNUSED}
    fixed = {**{field: value for field, value in FIXED.items() if field not in free}, **module.HF_FIXED}
    for field, value in fixed.items():
        if described.get(field) not in (None, value):
            raise ValueError(f"{field} is {described[field]!r}; only {value!r} is implemented")
    settings = {ours: described[theirs] for theirs, ours in module.HF_FIELDS.items() if theirs in described}
    known = {*module.HF_FIELDS, *fixed, *module.HF_UNUSED, *COMMON}
    if unknown := sorted(described.keys() - known):
        raise ValueError(f"fields not understood: {', '.join(unknown[:4])}")
    return settings, module.HF_HEADS[name] if head is None else head


def write(module: ModuleType, settings: dict[str, Any], head: str | None) -> dict[str, Any]:
    """The other way round: what transformers reads. Raises ValueError for a head that they have no class for."""
    names = [name for name, its_head in module.HF_HEADS.items() if its_head == head]
    if not names:
        raise ValueError(f"head {head!r} has no published class: it could not be saved in their layout")
    return {"architectures": names[:1], **{theirs: settings[ours] for theirs, ours in module.HF_FIELDS.items()}}
