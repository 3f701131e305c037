"""A sample of `make fuzz-models`, and what it does with a model that is wrong."""

from __future__ import annotations

import pytest
import torch

import tfkit
from tests.fuzz_models import __main__ as fuzz
from tests.fuzz_models import compare
from tests.fuzz_models.draws import DRAWS
from tests.fuzz_models.inputs import draw
from tests.fuzz_models.known import KNOWN, reason

pytest.importorskip("transformers")
OUTCOMES = (compare.AGREE, compare.DIFFER, compare.CRASH, compare.REFUSED, compare.THEIRS)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("arch", DRAWS)
def test_random_configurations_agree_with_transformers(arch):
    case = draw(arch, seed=1)
    outcome = compare.run(case)
    assert outcome.kind in OUTCOMES
    assert not fuzz.unknown(case, outcome), f"{case}: {outcome}"


def test_a_case_follows_from_its_seed():
    first, again, other = draw("bert", 5), draw("bert", 5), draw("bert", 6)
    assert str(first) == str(again) != str(other)
    assert torch.equal(first.given["input_ids"], again.given["input_ids"])


def test_a_wrong_number_is_found_and_fails(monkeypatch, capsys):
    """As of a norm whose weights are a little too large."""
    read = tfkit.from_pretrained

    def wrong(*args, **given):
        model = read(*args, **given)
        with torch.no_grad():
            model.layers[0].norm1.weight.mul_(1.01)
        return model

    monkeypatch.setattr(tfkit, "from_pretrained", wrong)
    assert fuzz.main(["bert", "--seed", "1", "--cases", "1"]) == 1
    shown = capsys.readouterr().out
    assert "repeat: make fuzz-models ARCH=bert SEED=1 CASES=1" in shown
    assert "hidden_states[1] is" in shown and "gradient of layers.0.norm1.weight is" in shown and "1 differ" in shown


def test_a_crash_is_no_refusal(monkeypatch):
    """A refusal is a ValueError or a TypeError of one line."""

    def run_with(error):
        def read(*_args, **_given):
            raise error

        monkeypatch.setattr(tfkit, "from_pretrained", read)
        return compare.run(draw("bert", 1)).kind

    assert run_with(ValueError("bert: eps is -1: must be above 0")) == compare.REFUSED
    assert run_with(IndexError("index out of range in self")) == compare.CRASH
    assert run_with(ValueError("two\nlines")) == compare.CRASH


def test_known_differences_have_reasons_and_nothing_else_is_known():
    assert all(len(known.reason.split()) > 4 for known in KNOWN)
    assert reason(draw("bert", 1), "logits is 1.0e-01 off") is None


def test_an_unknown_architecture_is_refused(capsys):
    with pytest.raises(SystemExit):
        fuzz.main(["no_such_model"])
    assert "no_such_model: not among albert" in capsys.readouterr().err
