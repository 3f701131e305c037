"""Every dropout field of a Config drops where it should: as often as transformers does in the same model, or as the
table says. Each field gets a rate of its own, by which its calls are counted in one forward pass."""

import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import fields

import pytest
import torch
import torch.nn.functional as F
import transformers

import tfkit
import tfkit.nn
from tests.models.table import ROWS, choices, drawn, kind
from tfkit import registry

OURS = sys.modules["tfkit.nn.dropout"]  # `tfkit.nn.dropout` is the function
OF_PARTS = {"encoder_decoder", "mmbt", "rag"}  # they are made of the others

# what transformers 5.23 has no class for, under its main head: field -> how often it drops
COUNTS = {
    "gpt3": {"dropout": 4, "embed_dropout": 1, "attn_dropout": 2, "head_dropout": 0, "choice_dropout": 0},
    "rnn_seq2seq": {"dropout": 2},
    "transformer": {"dropout": 12},
    "transformer_xl": {"dropout": 9, "attn_dropout": 2},
    "xlm_prophetnet": {"dropout": 12, "attn_dropout": 8, "ff_dropout": 4},
}
# architecture, or "architecture-head": what 5.23 drops another number of times -> tfkit's less transformers' count, why
DIFFERENT: dict[str, dict[str, tuple[int, str]]] = {
    "albert": {"dropout": (8, "after the feed-forward too, as in the authors' code; transformers skips it")},
    "ctrl": {"attn_dropout": (2, "transformers reads attn_pdrop and does not use it")},
    "distilbert": {"dropout": (2, "after attention too, as in BERT, whose layers these are")},
    "bigbird-causal_lm": {"attn_dropout": (2, "transformers drops nothing in block-sparse attention")},
    **dict.fromkeys(
        ("funnel-base", "funnel-sequence_classification", "funnel-multiple_choice"),
        {"dropout": (1, "what leaves the last block is dropped as a decoder's input would be")},
    ),
    **dict.fromkeys(
        ("reformer", "reformer-causal"),
        {"dropout": (1, "transformers drops whole columns of axial positions by dropout2d, which is not counted")},
    ),
    "bigbird-multiple_choice": {"head_dropout": (1, "one rate for all heads"), "dropout": (-1, "as above")},
}  # fmt: skip
# fields of a parent's Config for heads that the child does not have
UNUSED = {
    "bigbird-causal": {"head_dropout"}, "ctrl": {"head_dropout", "choice_dropout"}, "dpr": {"head_dropout"},
    "gemma3": {"head_dropout"}, "gpt": {"head_dropout"}, "gpt_neo": {"choice_dropout"},
    "gptj": {"head_dropout", "choice_dropout"}, "olmo2": {"head_dropout"}, "opt": {"head_dropout"},
    "m2m_100": {"head_dropout"}, "llada": {"head_dropout"}, "marian": {"head_dropout"}, "pegasus": {"head_dropout"},
    "reformer-causal": {"head_dropout"},
}  # fmt: skip
CHUNKS = {"axial_shape": (4, 4), "max_length": 16}  # transformers trains a Reformer on sequences of the full size only


def rates(name):
    """A rate for each field that is one, none equal to another."""
    known = [field.name for field in fields(registry.load(kind(name)).Config)]
    found = {field: (i + 1) / 128 for i, field in enumerate(f for f in known if f.endswith("dropout"))}
    return found | {field: 0.0 for field in known if field.endswith("layerdrop")}


@contextmanager
def counted(found, monkeypatch):
    """Adds to `found` how often something is dropped at each rate."""
    keep, drop, attend = OURS.keep_mask, F.dropout, F.scaled_dot_product_attention

    def keep_mask(shape, p, device=None):
        found[p] += 1
        return keep(shape, p, device)

    def dropout(x, p=0.5, training=True, inplace=False):
        found[p] += training and p > 0
        return drop(x, p, training, inplace)

    def attention(q, k, v, attn_mask=None, dropout_p=0.0, *args, **how):
        found[dropout_p] += dropout_p > 0
        return attend(q, k, v, attn_mask, dropout_p, *args, **how)

    with monkeypatch.context() as patch:
        patch.setattr(OURS, "keep_mask", keep_mask)
        patch.setattr(F, "dropout", dropout)
        patch.setattr(F, "scaled_dot_product_attention", attention)
        yield


def made(name, head, **changes):
    torch.manual_seed(0)
    two = {"num_labels": 2} if "num_labels" in ROWS[name].fields else {}  # a span's start and end, in transformers
    own = CHUNKS if kind(name) == "reformer" else {}
    return tfkit.from_config(kind(name), head=head, **{**ROWS[name].fields, **two, **own, **changes})


def inputs_of(name, model):
    """One sentence, without targets: heads know these by other names in transformers."""
    row = ROWS[name]
    ids = drawn(1, 16 if kind(name) == "reformer" else row.length)  # transformers trains on whole chunks only
    if row.end is not None:
        ids[:, -1] = row.end
    return row.inputs(model, torch.stack([ids, ids.flip(0)], 1) if choices(model.head) else ids)


def drops(name, head, monkeypatch):
    """-> field: how often it drops in one forward pass"""
    found, given = Counter(), rates(name)
    model = made(name, head, **given).train()
    inputs = inputs_of(name, model)
    with counted(found, monkeypatch):
        model(**inputs)
    assert set(+found) <= set(given.values()), "something is dropped at a rate that no field gives"
    return {field: found[rate] for field, rate in given.items() if rate}, model, inputs


def pairs():
    for name, row in ROWS.items():
        if kind(name) not in OF_PARTS:
            yield from ((name, head) for head in row.heads or registry.load(kind(name)).MODEL.HEADS)


def known(name, head):
    """Whether transformers has a class for it."""
    classes = getattr(registry.load(kind(name)), "HF_HEADS", {})
    return any(its == head and hasattr(transformers, cls) for cls, its in classes.items())


PUBLISHED = [(name, head) for name, head in pairs() if known(name, head)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "head"), PUBLISHED, ids=[f"{n}-{h}" for n, h in PUBLISHED])
def test_as_often_as_in_transformers(name, head, tmp_path, monkeypatch):
    ours, model, inputs = drops(name, head, monkeypatch)
    model.save_pretrained(tmp_path)
    config = transformers.AutoConfig.from_pretrained(tmp_path, attn_implementation="eager")
    theirs, found = getattr(transformers, config.architectures[0])(config).train(), Counter()
    if (kind(name), head) == ("whisper", "causal_lm"):  # transformers passes the encoder's outputs on as states
        inputs["encoder_outputs"] = (inputs.pop("encoder_hidden_states"),)
    with counted(found, monkeypatch):
        theirs(**inputs)
    if "head_dropout" in ours and "head_dropout" not in registry.load(kind(name)).HF_FIELDS.values():
        ours["dropout"] += ours.pop("head_dropout")  # transformers has one rate for both
    wanted = {field: found[rates(name)[field]] for field in ours}
    for key in (name, f"{name}-{head}"):
        for field, (more, _) in DIFFERENT.get(key, {}).items():
            wanted[field] += more
    assert ours == wanted


@pytest.mark.parametrize("name", COUNTS)
def test_as_often_as_the_table_says(name, monkeypatch):
    assert drops(name, ROWS[name].head, monkeypatch)[0] == COUNTS[name]


@pytest.mark.parametrize("name", [n for n in ROWS if kind(n) not in OF_PARTS])
def test_every_field_changes_training_and_none_changes_evaluation(name, monkeypatch):
    row, used = ROWS[name], set()
    for head in row.heads or registry.load(kind(name)).MODEL.HEADS:
        found, model, inputs = drops(name, head, monkeypatch)
        used |= {field for field, count in found.items() if count}
        silent = Counter()
        with counted(silent, monkeypatch):
            model.eval()(**inputs)
        assert not +silent, head
    assert used == {field for field, rate in rates(name).items() if rate} - UNUSED.get(name, set())


@pytest.mark.parametrize("name", [n for n in ROWS if kind(n) not in OF_PARTS | {"bigbird"}])  # it draws blocks anew
@torch.no_grad()
def test_without_dropout_training_is_evaluation(name):
    model = made(name, ROWS[name].head, **dict.fromkeys(rates(name), 0.0))
    inputs = inputs_of(name, model)
    for key, tensor in model.train()(**inputs).items():
        if isinstance(tensor, torch.Tensor):
            torch.testing.assert_close(model.eval()(**inputs)[key], tensor)
