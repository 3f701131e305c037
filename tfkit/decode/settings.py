"""A model's own settings for `generate`, from its generation_config.json, or from an older config.json.

They are kept as `model.generation_config`, a dict with transformers' names, and are defaults: explicit arguments of
`generate` override them. Unknown settings are kept and written again; `generate` warns once of each that would change
the result but is not implemented.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from tfkit.decode.checks import require_whole
from tfkit.decode.contrastive import Contrastive
from tfkit.decode.decoders import is_causal, is_tfkit_model
from tfkit.decode.logits_processors import LogitsProcessors
from tfkit.decode.search import Strategy
from tfkit.decode.strategies import GREEDY, Beam, Diverse, Sample

T = TypeVar("T")
FILE = "generation_config.json"
SEARCH = (
    "num_beams", "num_beam_groups", "diversity_penalty", "length_penalty", "early_stopping", "do_sample", "temperature",
    "top_k", "top_p", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff", "penalty_alpha", "num_return_sequences",
)  # fmt: skip
# settings of sampling alone -> the values of which nobody needs to be told that they have no effect
SAMPLED: dict[str, float | None] = {
    "temperature": 1.0, "top_k": 50, "top_p": 1.0, "min_p": None, "typical_p": 1.0, "epsilon_cutoff": 0.0,
    "eta_cutoff": 0.0,
}  # fmt: skip
OF_BEAMS: dict[str, float | None] = {"length_penalty": 1.0, "early_stopping": False}
LIMITS = ("max_new_tokens", "max_length")
IDS = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id")
FORCED = ("forced_bos_token_id", "forced_eos_token_id")
PROCESSORS = tuple(LogitsProcessors.__dataclass_fields__)
OTHERS = ("stop_strings", "guidance_scale")
# fields that change the output unless they have this value, and that are not implemented
NEUTRAL = {
    "top_h": None, "watermarking_config": None, "token_healing": False, "dola_layers": None, "constraints": None,
    "force_words_ids": None, "max_time": None,
}  # fmt: skip
# fields of older files, which transformers no longer follows either
FORGOTTEN = {"forced_decoder_ids": None}
OF_FILES = (*SEARCH, *LIMITS, *FORCED, *PROCESSORS, *OTHERS, *NEUTRAL, *FORGOTTEN)


def read(directory: Path, config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in a model's directory: generation_config.json or, without one, the generation fields of config.json
    (given as a dict) and of its decoder part. Raises ValueError for a file that holds no JSON object."""
    file = Path(directory) / FILE
    if not file.is_file():
        parts = [config.get(part) or {} for part in ("generator", "decoder")]
        found = {name: part[name] for part in (*parts, config) for name in OF_FILES if part.get(name) is not None}
        return _check_settings(found, Path(directory) / "config.json")
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: not JSON ({error})") from None
    if not isinstance(found, dict):
        raise ValueError(f"{file}: holds {type(found).__name__}, not an object")
    dropped = ("transformers_version", "_from_model_config")
    # if the file exists, tokens that it does not force are not forced, whatever config.json says
    return _check_settings(dict.fromkeys(FORCED) | {k: v for k, v in found.items() if k not in dropped}, file)


def write(model: Any, directory: Path) -> None:
    """Writes generation_config.json for a model that generates: transformers reads forced tokens only from there."""
    if model.head not in ("causal_lm", "seq2seq_lm", "rag_token", "rag_sequence"):
        return
    own = {name: getattr(model.config, name, None) for name in (*IDS, *FORCED)}
    settings = {name: value for name, value in (own | model.generation_config).items() if value is not None}
    text = json.dumps({"_from_model_config": not model.generation_config, **settings}, indent=2)
    (Path(directory) / FILE).write_text(text + "\n", encoding="utf-8")


def of(model: Any) -> dict[str, Any]:
    """The settings of a tfkit model, including tokens that its Config forces; {} for other models."""
    if not is_tfkit_model(model):
        return {}
    own = getattr(model, "generation_config", {})
    config = {name: getattr(model.config, name, None) for name in FORCED}
    return {**config, **own}


def refuse_unknown(settings: Mapping[str, Any]) -> None:
    """Raises ValueError for a setting that would change the output but is not implemented. Warns of one that
    transformers follows no longer."""
    for name, neutral in (NEUTRAL | FORGOTTEN).items():
        value = settings.get(name)
        if value is None or value == neutral:
            continue
        shown = f"{name}={value!r}, of the model's generation settings, "
        if name in NEUTRAL:
            raise ValueError(f"{shown}is not implemented: set it to {neutral!r} in model.generation_config")
        warnings.warn(f"{shown}is ignored, as by transformers", stacklevel=3)


def warn_of_unused(given: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Warns of what was given and has no effect: settings of sampling without do_sample=True; settings of beams without
    a beam, if their number was given too. Those of a model's file are not reported, as in transformers."""
    kinds = [] if settings.get("do_sample") else [(SAMPLED, "without do_sample=True")]
    if "num_beams" in given and settings.get("num_beams") in (None, 1):
        kinds.append((OF_BEAMS, "without num_beams above 1"))
    for neutral, why in kinds:
        known = [name for name in neutral if given.get(name) is not None and given[name] != neutral[name]]
        names = [name for name in known if name != "top_k" or not settings.get("penalty_alpha")]
        if names:
            shown = ", ".join(f"{name}={given[name]!r}" for name in names)
            warnings.warn(f"{shown}: no effect {why}", UserWarning, stacklevel=4)


def strategy_of(settings: Mapping[str, Any]) -> Strategy:
    """The strategy that the settings describe. Raises ValueError for an unsupported combination, TypeError for a
    setting of another kind."""

    def get(name: str, default: T) -> T:
        """The setting, or the default if it is missing or None, as transformers' files have it."""
        found: T | None = settings.get(name)
        return default if found is None else found

    beams, groups, sampled = get("num_beams", 1), get("num_beam_groups", 1), is_sampled(settings)
    require_whole("num_beams", beams, least=1)
    require_whole("num_beam_groups", groups, least=1)
    if beams > 1 and sampled:
        raise ValueError(f"num_beams={beams} and do_sample=True: a beam that samples is not implemented")
    if beams > 1:
        how: dict[str, Any] = {
            "length_penalty": get("length_penalty", 1.0),
            "early_stopping": get("early_stopping", False),
        }
        diversity = get("diversity_penalty", 0.0)
        return Diverse(beams, groups=groups, penalty=diversity, **how) if groups > 1 else Beam(beams, **how)
    if sampled:
        return Sample(
            get("temperature", 1.0), top_k=get("top_k", 50) or None, top_p=get("top_p", 1.0),
            **{name: settings.get(name) for name in ("min_p", "typical_p", "epsilon_cutoff", "eta_cutoff")},
        )  # fmt: skip
    if settings.get("penalty_alpha") and get("top_k", 50) > 1:
        return Contrastive(get("top_k", 50), settings["penalty_alpha"])
    return GREEDY


def is_sampled(settings: Mapping[str, Any]) -> bool:
    """Whether the settings ask for sampling. Raises TypeError for a do_sample other than True, False or None."""
    sampled = settings.get("do_sample")
    if sampled not in (True, False, None):
        raise TypeError(f"do_sample={sampled!r}: must be True or False")
    return bool(sampled)


def processors_of(model: Any, settings: Mapping[str, Any], given: Collection[str]) -> LogitsProcessors | None:
    """The logits processors of the settings, or None if they ask for none. Tokens that only the Config forces are for
    encoder-decoders: a decoder-only model ignores them unless they are among the names in `given`."""
    processors = {name: settings[name] for name in PROCESSORS if settings.get(name) is not None}
    if is_causal(model) and not getattr(model, "generation_config", {}):
        processors = {name: value for name, value in processors.items() if name in given or name not in FORCED}
    return LogitsProcessors(**processors) if processors else None


def _check_settings(found: dict[str, Any], file: Path) -> dict[str, Any]:
    """The settings, if they make a valid strategy and valid logits processors; otherwise ValueError names the file."""
    try:
        strategy_of(found | {"do_sample": is_sampled(found) and found.get("num_beams") in (None, 1)})
        LogitsProcessors(**{name: found[name] for name in PROCESSORS if found.get(name) is not None})
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file}: {str(error).partition(chr(10))[0]}") from None
    return found
