"""A Config that no model can have is an error of one line that names the field, for every architecture."""

from dataclasses import fields

import pytest

import tfkit
from tests.models.table import ROWS, kind
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
