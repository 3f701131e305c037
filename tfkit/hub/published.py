"""Translates a published config.json to the fields of Config and back. A field that may change the result and is not
understood is an error.

A model's module declares what it understands: HF_FIELDS (the published field -> that of Config), HF_FIXED (fields with
the only value that it implements), HF_UNUSED (fields that do not affect what a trained model computes), HF_DEFAULTS
(transformers' default for a field that a file omits, if that of Config differs), HF_HEADS (class name -> head); and, if
it is composed of other models, HF_PARTS (the field that describes a part -> the values that the part's configuration
must have); from_hf_fields and to_hf_fields, between its fields and those that the above name; nest_hf_fields, the last
change of what is written. A field of a section is named "section.field".
"""

from __future__ import annotations

import warnings
from dataclasses import asdict
from types import ModuleType
from typing import Any

from .. import registry
from ..decode import settings

# transformers' model_type of an architecture, if it differs from the name of the file here
NAMES = {
    "openai-gpt": "gpt",
    "bert-generation": "bert_generation",
    "gemma3_text": "gemma3",
    "xlm-roberta": "xlm_roberta",
    "xlm-prophetnet": "xlm_prophetnet",
    "encoder-decoder": "encoder_decoder",
    "transfo-xl": "transformer_xl",
    "big_bird": "bigbird",
    "deberta-v2": "deberta_v2",
}
TOWERS = {"clip_text_model": "clip", "clip_vision_model": "clip"}  # model_type of one part of an architecture
# fields that every published configuration may have: provenance, and defaults of generation and of output formats
COMMON = {
    "architectures", "transformers_version", "dtype", "torch_dtype", "_name_or_path", "_commit_hash", "use_cache",
    "task_specific_params",
    "return_dict", "output_attentions", "output_hidden_states", "id2label", "label2id", "problem_type",
    "gradient_checkpointing", "torchscript", "chunk_size_feed_forward", "is_encoder_decoder", "attn_implementation",
    "_attn_implementation_autoset", "_num_labels", "num_labels", "use_bfloat16", "tokenizer_class", "prefix",
    "finetuning_task", "model_type", "tf_legacy_loss", "typical_p", "temperature", "top_k", "top_p",
    "max_length", "min_length", "num_beams", "num_beam_groups", "num_return_sequences", "do_sample", "early_stopping",
    "length_penalty", "repetition_penalty", "diversity_penalty", "no_repeat_ngram_size", "bad_words_ids",
    "encoder_no_repeat_ngram_size", "exponential_decay_length_penalty", "forced_bos_token_id", "forced_eos_token_id",
    "begin_suppress_tokens", "suppress_tokens", "remove_invalid_values", "return_dict_in_generate", "output_scores",
    "decoder_start_token_id", "sep_token_id",
}  # fmt: skip
# fields in files of the hub that no architecture here reads and that change no result: one warning for each
HARMLESS = {
    "output_past", "language", "name", "auto_map", "from_tf", "from_flax", "mask_token_id",
    "unk_token_id", "cls_token_id", "custom_pipelines", "adapters", "license", "datasets", "revision", "author",
    "use_flash_attn", "keys_to_ignore_at_inference", "return_all_scores", "train_batch_size",
    "model_name", "trainer", "version", "tf_checkpoint",
}  # fmt: skip
REWRITTEN = {"architectures", "model_type", "transformers_version", "dtype", "torch_dtype", "_name_or_path"}


# fields that would change the result of any architecture: they may only have the value that changes nothing
FIXED = {"pruned_heads": {}, "tie_encoder_decoder": False, "is_decoder": False, "add_cross_attention": False}
FIXED["cross_attention_hidden_size"] = None


def read(
    module: ModuleType, config_dict: dict[str, Any], head: str | None = None, strict: str = "error"
) -> tuple[dict[str, Any], str | None]:
    """-> the fields of Config, and the head: the requested one, or else the one that `architectures` names (None, the
    model without a head, if it names none). strict: "warn" leaves out unknown fields with a warning, "quiet" without
    one. Raises ValueError for a class, a field or a value that is not understood."""
    config_dict = getattr(module, "from_hf_fields", dict)(config_dict)
    name = (config_dict.get("architectures") or [next(iter(module.HF_HEADS))])[0]
    if head is None and name not in module.HF_HEADS:
        raise ValueError(f"architectures names {name!r}; supported: {', '.join(module.HF_HEADS)}")
    fixed = _fixed_fields(module)
    for field, found in config_dict.items():
        if (value := fixed.get(_last(field), found)) != found and found is not None:
            raise ValueError(f"{field} is {found!r}; only {value!r} is implemented")
    known = _known_fields(module)
    _report(
        sorted(field for field in config_dict if field not in known and _last(field) not in {*COMMON, *fixed}), strict
    )
    settings = dict(getattr(module, "HF_DEFAULTS", {}))
    settings |= {field: config_dict[hf_name] for hf_name, field in module.HF_FIELDS.items() if hf_name in config_dict}
    parts = getattr(module, "HF_PARTS", {})
    settings |= {field: read_part(config_dict[field], parts[field]) for field in parts if config_dict.get(field)}
    return settings, module.HF_HEADS[name] if head is None else head


def _last(field: str) -> str:
    """The name of a field within its section."""
    return field.rpartition(".")[2]


def _fixed_fields(module: ModuleType) -> dict[str, Any]:
    """The fields for which only one value is accepted."""
    free = {*module.HF_FIELDS, *module.HF_UNUSED}
    return {**{field: value for field, value in FIXED.items() if field not in free}, **module.HF_FIXED}


def _known_fields(module: ModuleType) -> set[str]:
    return {*module.HF_FIELDS, *_fixed_fields(module), *module.HF_UNUSED, *getattr(module, "HF_PARTS", {}), *COMMON}


def _report(unknown: list[str], strict: str) -> None:
    """Raises ValueError for unknown fields, or warns of them; for harmless ones it only warns."""
    unknown_fields = [field for field in unknown if _last(field) not in HARMLESS]
    if unknown_fields and strict == "error":
        raise ValueError(f"unknown fields: {', '.join(unknown_fields[:4])}; strict='warn' ignores them")
    for field in unknown if strict != "quiet" else ():
        effect = "may change the result" if field in unknown_fields else "changes no result"
        warnings.warn(f"config.json has {field!r}, which is not read here and {effect}", stacklevel=6)


def extra_settings(module: ModuleType, config_dict: dict[str, Any]) -> dict[str, Any]:
    """The fields of a published configuration that Config does not have: they are written again when the model is
    saved. Generation settings are not among them, since they go into a file of their own."""
    if not hasattr(module, "HF_FIELDS"):
        return {}
    config_dict = getattr(module, "from_hf_fields", dict)(config_dict)
    translated = {*module.HF_FIELDS, *getattr(module, "HF_PARTS", {}), *REWRITTEN, *settings.OF_FILES}
    return {f: value for f, value in config_dict.items() if f not in translated and _last(f) not in REWRITTEN}


def write(module: ModuleType, settings: dict[str, Any], head: str | None) -> dict[str, Any]:
    """The inverse of `read`: a config.json for transformers. Raises ValueError for a head that has no class there."""
    names = [name for name, its_head in module.HF_HEADS.items() if its_head == head]
    if not names:
        raise ValueError(f"head {head!r} has no class in transformers, so the model cannot be saved in its layout")
    parts = {field: write_part(settings[field], wanted) for field, wanted in getattr(module, "HF_PARTS", {}).items()}
    written = {hf_name: settings[field] for hf_name, field in module.HF_FIELDS.items()}
    pad, size = settings.get("pad_token_id"), settings.get("vocab_size")
    if pad is not None and size is not None and pad >= size:  # the default of a larger vocabulary: no padding
        written |= {hf_name: None for hf_name, field in module.HF_FIELDS.items() if field == "pad_token_id"}
    if written.get("is_decoder", False) is None:  # None: the head decides
        del written["is_decoder"]
    if written.get("id2label") and not written.get("label2id"):
        written["label2id"] = {label: int(number) for number, label in written["id2label"].items()}
    if not written.get("id2label"):  # transformers derives both from the number of labels
        written.pop("id2label", None), written.pop("label2id", None)
    return getattr(module, "to_hf_fields", dict)({"architectures": names[:1], **written, **parts})


def architecture(kind: Any) -> str:
    """The name here of a published model_type. Raises ValueError with the list of known ones."""
    name = NAMES.get(kind, TOWERS.get(kind, kind))
    if name not in registry.sources():
        raise ValueError(f"model_type {kind!r} is not one of {', '.join(registry.sources())}")
    return name


def model_type(name: str) -> str:
    """transformers' model_type of an architecture."""
    return {architecture: kind for kind, architecture in NAMES.items()}.get(name, name)


def read_part(config_dict: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """A model within a model -> {"architecture": its name here, **its fields}. A field in `wanted` must have that
    value, or be absent."""
    config_dict = {field: value for field, value in config_dict.items() if field != "architectures"}
    name = architecture(config_dict.pop("model_type", None))
    for field, value in wanted.items():
        if (found := config_dict.pop(field, value)) != value:
            raise ValueError(f"{field} of the {name} inside is {found!r}; only {value!r} is implemented")
    module = registry.load(name)
    settings = read(module, config_dict)[0]
    if "is_decoder" in settings and "is_decoder" not in config_dict:  # the outer model decides which half it is
        settings["is_decoder"] = None
    return {"architecture": name, **settings}


def write_part(part: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """The inverse of `read_part`."""
    name, module, config = registry.resolve_submodel(part)
    config_dict = write(module, asdict(config), next(iter(module.HF_HEADS.values())))
    return {"model_type": model_type(name), **config_dict, **wanted, "architectures": None}
