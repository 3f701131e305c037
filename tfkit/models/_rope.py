"""Rotary positions in published configurations, which transformers 4.x and 5.x write differently."""

from __future__ import annotations

from typing import Any

OLD_KINDS = {"su": "longrope"}
WITH_TRAINED_LENGTH = ("llama3", "yarn", "longrope")


def read_rope(config_dict: dict[str, Any]) -> dict[str, Any]:
    """config.json with `rope_parameters` (5.x), or `rope_theta` and `rope_scaling` (4.x) -> the same with separate
    fields rope_theta, rope_scaling (None: no scaling) and partial_rotary_factor.

    Raises ValueError if rope_parameters is not a dictionary.
    """
    config_dict = dict(config_dict)
    rope_fields = config_dict.pop("rope_parameters", None) or config_dict.pop("rope_scaling", None) or {}
    config_dict.pop("rope_scaling", None)
    if not isinstance(rope_fields, dict):
        raise ValueError(f"rope_parameters is {rope_fields!r}; it must be a dictionary")
    rope_fields = dict(rope_fields)
    for field in ("rope_theta", "partial_rotary_factor"):
        if rope_fields.get(field) is not None:
            config_dict[field] = rope_fields[field]
        rope_fields.pop(field, None)
    config_dict["rope_scaling"] = _scaling(rope_fields, config_dict)
    return config_dict


def _scaling(rope_fields: dict[str, Any], config_dict: dict[str, Any]) -> dict[str, Any] | None:
    """The scaling with `rope_type` under that name, and with the trained length if its kind needs it."""
    old = rope_fields.pop("type", None)
    kind = rope_fields.pop("rope_type", None) or old or "default"
    if kind == "default":
        return None
    scaling = {"rope_type": OLD_KINDS.get(kind, kind), **rope_fields}
    if scaling["rope_type"] in WITH_TRAINED_LENGTH:
        trained = config_dict.get("original_max_position_embeddings")
        if trained is not None:
            scaling["original_max_position_embeddings"] = trained
        elif config_dict.get("max_position_embeddings") is not None:
            scaling.setdefault("original_max_position_embeddings", config_dict["max_position_embeddings"])
    return scaling


def write_rope(written: dict[str, Any]) -> dict[str, Any]:
    """The inverse, in the form of 5.x. A head_dim of None is left out: some of the classes there divide by it."""
    written = {field: value for field, value in written.items() if field != "head_dim" or value is not None}
    rope = {"rope_theta": written.pop("rope_theta"), **(written.pop("rope_scaling") or {"rope_type": "default"})}
    if "partial_rotary_factor" in written:
        rope["partial_rotary_factor"] = written.pop("partial_rotary_factor")
    return {**written, "rope_parameters": rope}
