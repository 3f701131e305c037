"""The tables of languages against those of transformers, and their sizes."""

import pytest
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES as M2M
from transformers.models.mbart50.tokenization_mbart50 import FAIRSEQ_LANGUAGE_CODES as MBART

from tfkit.text.languages import language_ids


def test_the_codes_are_those_of_the_published_tokenizers():
    assert set(language_ids("mbart-large-50")) == set(MBART)
    assert set(language_ids("m2m100_418M")) == set(M2M["m2m100"])
    assert list(language_ids("mbart-large-cc25")) == list(language_ids("mbart-large-50"))[:25]


@pytest.mark.parametrize(
    ("preset", "count"),
    [
        ("mbart-large-cc25", 25),
        ("m2m100_1.2B", 100),
        ("xlm-clm-ende-1024", 2),
        ("xlm-mlm-17-1280", 17),
        ("xlm-mlm-100-1280", 100),
    ],
)
def test_as_many_as_the_paper_says(preset, count):
    assert len(language_ids(preset)) == count


def test_rows_of_xlm_go_by_the_alphabet():
    table = language_ids("xlm-mlm-tlm-xnli15-1024")
    assert list(table)[:3] == ["ar", "bg", "de"] and table["zh"] == 14


def test_a_model_without_codes_is_named():
    with pytest.raises(ValueError, match="'gpt2' has no language codes; those that have: mbart-large-cc25"):
        language_ids("gpt2")
