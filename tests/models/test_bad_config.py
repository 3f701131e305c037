"""A Config that no model can have is an error of one line that names the field, for every architecture."""

from dataclasses import fields

import pytest
import torch

import tfkit
from tests.models.table import ROWS, drawn, kind
from tfkit import registry

WRONG = {
    "d_model": (0, -4, 2.5, "16"), "d_ff": (0,), "n_layers": (-1,), "n_heads": (0, -1), "n_decoder_layers": (-1,),
    "n_decoder_heads": (0,), "vocab_size": (0,), "max_length": (0,), "num_labels": (0,), "eps": (-5, float("nan")),
    "dropout": (-0.1, 1.5), "attn_dropout": (2,), "layerdrop": (-1,), "rotary_dim": (5, 64, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_a_field_that_cannot_be_is_named(name):
    row, known = ROWS[name], {field.name for field in fields(registry.load(kind(name)).Config)}
    for field, values in WRONG.items():
        for value in values if field in known else ():
            with pytest.raises(ValueError, match=f"{field}=|axial_dims must") as error:
                tfkit.from_config(kind(name), head=row.head, **{**row.fields, field: value})
            assert "\n" not in str(error.value)


LAYERED = [name for name in ROWS if "n_layers" in {field.name for field in fields(registry.load(kind(name)).Config)}]
LAYERLESS = ("n_layers=0: must be a whole number, at least 1", "attention_types must name 0 layers")


@pytest.mark.parametrize("name", LAYERED)
@torch.no_grad()
def test_a_model_without_layers_runs_or_is_refused(name):
    row = ROWS[name]
    try:
        model = tfkit.from_config(kind(name), head=row.head, **{**row.fields, "n_layers": 0})
    except ValueError as error:
        assert str(error).startswith(LAYERLESS)
    else:
        model(**row.inputs(model, drawn(3, 5)))


ROTATED = {"deepseek_v3": "d_rotary", **dict.fromkeys(
    ("gemma2", "gemma3", "gpt_oss", "llama", "mistral", "mixtral", "olmo2", "phi3", "qwen2", "qwen3",
     "qwen3_moe", "smollm3"), "d_head"
)}  # fmt: skip


@pytest.mark.parametrize("name", ROTATED)
@pytest.mark.parametrize("width", [1, 5])
def test_a_head_of_odd_width_cannot_be_rotated(name, width):
    field = ROTATED[name]
    with pytest.raises(
        ValueError, match=rf"^{field}={width}: the columns of a head are rotated in pairs; must be even$"
    ):
        tfkit.from_config(name, **{**ROWS[name].fields, field: width})


def test_a_width_that_follows_from_others_is_named_too():
    with pytest.raises(ValueError, match=r"^d_model / n_heads=5: the columns of a head are rotated in pairs"):
        tfkit.from_config("modernbert", **{**ROWS["modernbert"].fields, "d_model": 15, "n_heads": 3})


def is_decoder_with(field):
    return [name for name in ROTATED if field in {one.name for one in fields(registry.load(name).Config)}]


@pytest.mark.parametrize("name", [*is_decoder_with("window"), "modernbert"])
@pytest.mark.parametrize("window", [0, -3])
def test_a_window_that_is_used_holds_a_position(name, window):
    row, known = ROWS[name].fields, {one.name for one in fields(registry.load(name).Config)}
    used = {"use_window": True, "first_windowed": 0}
    made = {**row, **{field: value for field, value in used.items() if field in known}}
    with pytest.raises(ValueError, match=rf"^window={window}: must be a whole number, at least 1"):
        tfkit.from_config(name, **{**made, "window": window})
    tfkit.from_config(name, **{**made, "window": 1})


@pytest.mark.parametrize("name", ["qwen2", "qwen3", "smollm3"])
def test_a_window_that_is_switched_off_may_be_anything(name):
    """As in transformers; files have 0 or -1 there."""
    model = tfkit.from_config(name, **{**ROWS[name].fields, "use_window": False, "window": 0})
    assert set(model.layer_types()) == {"full_attention"}


KINDS_OF_LAYERS = [*is_decoder_with("layer_types"), "modernbert"]


@pytest.mark.parametrize("name", KINDS_OF_LAYERS)
def test_as_many_kinds_as_layers_are_named(name):
    row = ROWS[name].fields
    layers, full = row["n_layers"], "full_attention"
    for kinds in ([full] * (layers - 1), [full] * (layers + 1), []):
        with pytest.raises(ValueError, match=rf"^layer_types names {len(kinds)} layers; n_layers is {layers}$"):
            tfkit.from_config(name, **{**row, "window": 4, "layer_types": kinds})


@pytest.mark.parametrize("name", ["gemma3", "modernbert"])
def test_one_layer_in_none_cannot_have_full_attention(name):
    with pytest.raises(ValueError, match=r"^period=0: must be a whole number, at least 1$"):
        tfkit.from_config(name, **{**ROWS[name].fields, "period": 0})


@pytest.mark.parametrize("name", KINDS_OF_LAYERS)
def test_a_kind_of_layer_that_is_not_known_is_named(name):
    row = ROWS[name].fields
    kinds = ["full_attention"] * (row["n_layers"] - 1)
    with pytest.raises(
        ValueError, match=r"^layer_types has 'typo'; each must be 'full_attention' or 'sliding_attention'$"
    ):
        tfkit.from_config(name, **{**row, "window": 4, "layer_types": [*kinds, "typo"]})
    model = tfkit.from_config(name, **{**row, "window": 4, "layer_types": [*kinds, "sliding_attention"]})
    assert model.layer_types()[-1] == "sliding_attention"
