"""`autograder variants`: lists, shows, draws and proves."""

from __future__ import annotations

import pytest

from autograder import cli
from autograder.exercises import registry
from autograder.exercises.contracts import draw_contract
from autograder.variants import command, prove


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        cli.main(["variants", *arguments])
    return int(stop.value.code or 0)


def test_all_are_listed_with_what_differs(capsys):
    assert run() == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == sum(len(exercise.contracts) for exercise in registry.exercises())
    assert any(line.split(maxsplit=1) == ["masks.causal@hidden", registry.find("masks.causal").contracts[0].sentence]
               for line in said)  # fmt: skip


def test_a_groups_are_those_that_are_drawn(capsys):
    assert run("masks.causal", "--group", "B") == 0
    drawn = draw_contract(registry.find("masks.causal"), "B")
    assert capsys.readouterr().out.split()[0] == ("masks.causal@hidden" if drawn else "masks.causal")


def test_one_is_shown_with_a_right_answer_in_its_form(capsys):
    assert run("show", "masks.padding@hidden") == 0
    said = capsys.readouterr().out
    assert said.startswith("In the mask that you return, True hides") and "return ~" in said
    assert run("show", "masks.padding") == 2
    assert "needs one contract, such as masks.causal@hidden" in capsys.readouterr().err


def test_a_contract_is_proved_with_the_collected_answers(capsys):
    assert run("--prove", "masks.padding") == 0
    said = capsys.readouterr().out
    assert "✓ masks.padding@hidden" in said and "1 contracts, 0 with an answer that is misjudged" in said


def test_an_answer_in_the_courses_own_form_must_fail(monkeypatch):
    exercise = registry.find("masks.padding@hidden")
    monkeypatch.setattr(prove, "adapter", lambda _: "")  # as if the contract changed nothing
    assert prove.prove(exercise).complaints == (prove.OWN_FORM.format(name="new_axes"),)


@pytest.mark.nightly  # every collected answer under every contract, as `autograder variants --prove` judges them
def test_every_contract_is_proved(capsys):
    code = run("--prove", "--workers", "2")
    assert code == 0, capsys.readouterr().out


def test_proofs_run_in_other_processes():
    assert command._Proving(0)("masks.causal@hidden").complaints == ()


def test_a_verdict_says_in_which_form_it_speaks(tmp_path, capsys):
    """The sentences and examples are those of the course's own form, which need not be what the student wrote."""
    file = tmp_path / "answer.py"
    file.write_text("import torch\ndef causal_mask(length):\n    return torch.ones(length, length).bool().tril()\n")
    with pytest.raises(SystemExit) as stop:
        cli.main(["check", "masks.causal@hidden", str(file)])
    said = " ".join(capsys.readouterr().out.split())
    assert stop.value.code == 1 and "in the form of the lesson's text" in said
    assert registry.find("masks.causal").contracts[0].sentence in said
