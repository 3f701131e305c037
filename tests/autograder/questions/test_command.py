"""`autograder questions`."""

import json
from pathlib import Path

import pytest

from autograder import cli
from autograder.questions.prove import samples
from autograder.questions.question import without_key

from .conftest import ATTEND

BLIND = Path(__file__).parents[2] / "blind"


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        cli.main(list(words))
    return int(end.value.code or 0)


@pytest.fixture
def answer(tmp_path):
    file = tmp_path / "answer.py"
    file.write_text(ATTEND)
    return str(file)


def test_show_prints_keys_only_where_they_are_asked_for(answer, made, capsys):
    assert run("questions", "show", "attention.attend", answer, "--count", "6", "--json", "--trust") == 0
    shown = json.loads(capsys.readouterr().out)["questions"]
    hidden = [without_key(one.as_json()) for one in made]
    assert shown == hidden  # the same code and seed give the same ones
    assert not any({"key", "explanation"} & one.keys() for one in shown)


def test_check_tells_right_answers_from_others(answer, made, capsys):
    keys = [one.key + 1 if one.kind == "choice" else one.key for one in made]
    words = [word for key in keys for word in ("--answer", str(key))]
    assert run("questions", "check", "attention.attend", answer, "--count", "6", "--trust", *words) == 0
    told = capsys.readouterr().out
    assert told.count("✓") == 6 and made[0].explanation in told
    assert run("questions", "check", "attention.attend", answer, "--trust", "--answer", "1") == 2
    assert "there are 3 questions, and 1 answers: give one --answer for each question" in capsys.readouterr().err


def test_prove_prints_the_sums_and_goes_on_where_it_was_stopped(capsys, tmp_path):
    record = tmp_path / "proofs.jsonl"
    words = ("questions", "prove", "masks.causal", "--limit", "1", "--trust", "--record", str(record), "--keys")
    assert run(*words, "3") == 0
    told = capsys.readouterr().out
    assert told.startswith("3/3 keys, about 0 min left  masks.causal/")
    assert "1 answers: 1 (100.0%) with 3 questions or more; 3 questions, 3 keys found a third way, 0 wrong" in told
    first = record.read_text()
    record.write_text(first + "\n" + first.strip()[:40])  # it was stopped while it wrote
    assert run(*words, "4") == 0
    told = capsys.readouterr().out
    assert told.startswith("6/4 keys") and told.count("masks.causal/") == 1  # only with the next seed
    assert "2 answers: 2 (100.0%) with 3 questions or more; 6 questions, 6 keys found a third way" in told
    record.write_text(first.replace('"of": "', '"of": "another'))  # of other code
    assert run(*words, "3") == 0
    assert capsys.readouterr().out.count("masks.causal/") == 1


def test_prove_takes_answers_by_other_hands_too(capsys):
    seed = next(seed for seed in range(99) if "blind/" in samples(["masks.causal"], 1, seed, BLIND)[0].name)
    words = ("questions", "prove", "masks.causal", "--blind", str(BLIND), "--limit", "1", "--trust")
    assert run(*words, "--seed", str(seed), "--keys", "3") == 0
    told = capsys.readouterr().out
    assert "masks.causal/blind/" in told and "3 keys found a third way, 0 wrong" in told
