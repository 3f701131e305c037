"""The typed settings of `generate` are those that it takes."""

from __future__ import annotations

import inspect
from typing import get_overloads

import pytest

import tfkit
from tests.decode.test_parity import pair
from tfkit import options
from tfkit.decode import settings
from tfkit.decode import stream as tfkit_stream
from tfkit.decode.decoders import cross_attention_inputs
from tfkit.decode.generate import TOKEN_NAMES, request_for

ARGUMENTS = set(inspect.signature(request_for).parameters) - {"model", "input_ids", "strategy", "kwargs"}
ACROSS = {"encoder_hidden_states", "encoder_attention_mask"}


def test_every_setting_is_typed_and_no_other():
    known = {*settings.PROCESSORS, *settings.SEARCH, *settings.OTHERS, "max_length", *TOKEN_NAMES, *ACROSS}
    assert set(options.Arguments.__annotations__) == known | ARGUMENTS
    assert cross_attention_inputs(pair("gpt2")[1], {}) == {}


def test_generate_takes_by_name_what_is_not_in_the_mapping():
    own = set(inspect.signature(tfkit.generate).parameters) - {"model", "input_ids", "strategy", "trace", "kwargs"}
    assert own | set(options.Settings.__annotations__) == set(options.Arguments.__annotations__)
    assert own.isdisjoint(options.Settings.__annotations__)


@pytest.mark.parametrize("function", [tfkit.generate, tfkit_stream, tfkit.Text.generate, tfkit.Text.chat])
def test_settings_complete_in_an_editor(function):
    """`Unpack` of a typed mapping is what type checkers and editors read."""
    signatures = [inspect.signature(one) for one in (*get_overloads(function), function)]
    for signature in signatures:
        assert "Unpack[" in str(signature.parameters["kwargs"].annotation)


@pytest.mark.parametrize("name", ["generate", "chat", "translate"])
def test_each_kind_of_call_of_a_text_has_a_result_of_one_type(name):
    returned = [one.__annotations__["return"] for one in get_overloads(getattr(tfkit.Text, name))]
    assert {"str", "list[str]", "Iterator[str]"} <= set(returned)
