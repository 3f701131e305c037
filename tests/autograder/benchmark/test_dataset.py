"""The dataset is the corpus, whole and the same at every export; the card says what is in it."""

import json
from functools import lru_cache

import pytest

from autograder import cli
from autograder.benchmark.dataset import DatasetError, dataset, export
from autograder.exercises import registry
from autograder.exercises.answers import KINDS, answers


@lru_cache(maxsize=1)
def rows() -> dict[str, list[dict]]:
    return {name: [json.loads(line) for line in text.splitlines()] for name, text in dataset()[0].items()}


def test_every_collected_answer_is_in_it_once():
    ids = [row["id"] for row in rows()["answers.jsonl"]]
    assert len(ids) == len(set(ids))
    assert len(ids) == sum(len(answers(exercise, kind)) for exercise in registry.exercises() for kind in KINDS)
    assert {row["id"] for row in rows()["exercises.jsonl"]} == {exercise.id for exercise in registry.exercises()}


def test_what_was_not_tuned_on_is_held_apart():
    for row in rows()["answers.jsonl"]:
        assert row["split"] == ("held_out" if row["kind"] == "rewritten" else "tuning")
        assert row["correct"] == (row["kind"] == "right")
        assert (row["sentence"] is None) == row["correct"], row["id"]


def test_no_held_out_answer_is_the_text_of_one_in_front_of_the_tuning():
    known = {row["sha256"] for row in rows()["answers.jsonl"] if row["split"] == "tuning"}
    assert not [row["id"] for row in rows()["answers.jsonl"] if row["split"] == "held_out" and row["sha256"] in known]


def test_pairs_differ_in_few_lines_and_name_answers_that_are_there():
    known = {row["id"]: row for row in rows()["answers.jsonl"]}
    for pair in rows()["pairs.jsonl"]:
        assert known[pair["right"]]["correct"] and not known[pair["wrong"]]["correct"]
        assert any(line.startswith(("+", "-")) for line in pair["diff"].splitlines()[2:]), pair["id"]


def test_an_exports_card_and_sums_fit_its_content(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["benchmark", "export", str(tmp_path / "out")])
    assert ended.value.code == 0 and "wrong-transformers" in capsys.readouterr().out
    described = json.loads((tmp_path / "out" / "dataset.json").read_text())
    texts, again = dataset()
    assert described == again
    assert all((tmp_path / "out" / name).read_text() == text for name, text in texts.items())
    card = (tmp_path / "out" / "README.md").read_text()
    assert described["version"] in card and f"| right | {described['counts']['right']} |" in card
    assert not [word for word in ("<version>", "<right>", "<pairs>", "<named>") if word in card]


def test_nothing_is_written_over(tmp_path):
    (tmp_path / "mine").write_text("x")
    with pytest.raises(DatasetError, match="not empty"):
        export(tmp_path)
    with pytest.raises(DatasetError, match="not empty"):
        export(tmp_path / "mine")
