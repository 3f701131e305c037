"""What of the comparison with DEFault++ needs neither its package nor weights: sentences, names, and the table."""

from __future__ import annotations

import json
import random

from autograder.exercises import registry
from autograder.exercises.answers import answers
from bench import defaultplusplus
from bench.defaultplusplus import (
    BAD,
    EXERCISE,
    GOOD,
    KIND_OF_FAULT,
    DiagnosedRun,
    renamed_to,
    sentences,
    summary,
    tasks,
)


def test_a_sentences_class_is_that_of_most_of_its_adjectives():
    for text, praised in sentences(200, random.Random(0)):
        words = text.split()
        assert (sum(word in GOOD for word in words) > sum(word in BAD for word in words)) == bool(praised), text


def test_parameters_get_the_names_of_distilbert():
    assert renamed_to("encoder.layer.3.attention.self.query.weight") == (
        "distilbert.transformer.layer.3.attention.q_lin.weight")  # fmt: skip
    assert renamed_to("embeddings.LayerNorm.bias") == "distilbert.embeddings.LayerNorm.bias"
    assert renamed_to("embeddings.token_type_embeddings.weight") == renamed_to("pooler.dense.bias") == ""


def test_every_answer_is_run_and_every_kind_of_fault_is_of_a_mistake_of_the_exercise():
    found = [*tasks()]
    assert found[0] == ("control", "transformers' own", None)
    mistakes = {one.stem for one in answers(registry.find(EXERCISE), "wrong")}
    assert {name for kind, name, _ in found if kind == "wrong"} == mistakes
    assert {*KIND_OF_FAULT} <= mistakes


def test_wrong_answers_that_train_as_right_ones_do_or_not_at_all_are_not_counted():
    runs = [
        DiagnosedRun("control", "transformers' own", 0, True, losses=(1.0, 0.5)),
        DiagnosedRun("right", "textbook", 0, losses=(1.0, 0.5)),
        DiagnosedRun("wrong", "no_scale", 0, True, category="score", losses=(1.0, 0.7)),
        DiagnosedRun("wrong", "mask_ignored", 0, True, category="score", losses=(1.1, 0.7)),
        DiagnosedRun("wrong", "scaled_by_value_width", 0, losses=(1.0, 0.5)),
        DiagnosedRun("wrong", "divided_by_d", 0, stopped="x"),
    ]  # fmt: skip
    table = summary(runs).splitlines()
    assert table[2:5] == ["| transformers' own | 1 | 1 | – |", "| right | 1 | 0 | – |", "| wrong | 2 | 2 | 1 of 2 |"]


def test_wrong_answers_are_counted_where_no_right_one_was_run_to_its_end():
    wrong = DiagnosedRun("wrong", "no_scale", 0, True, category="score", losses=(1.0, 0.7))
    assert "| wrong | 1 | 1 | 1 of 1 |" in summary([wrong])
    assert "| wrong | 1 | 1 | 1 of 1 |" in summary([DiagnosedRun("right", "b", 0, stopped="x"), wrong])
    right = [DiagnosedRun("right", "a", 0, losses=(1.0, 0.7)), DiagnosedRun("right", "b", 0, stopped="x")]
    assert "| wrong | 0 | 0 | – |" in summary([*right, wrong])


def test_a_run_is_stored_with_date_and_machine_and_is_not_run_again(tmp_path, monkeypatch, capsys):
    asked = []

    def run(kind, name, source, seed):
        asked.append((kind, name))
        return DiagnosedRun(kind, name, seed, True, 1.0, "qkv", "swapped_qk", losses=(1.0, 0.5))

    monkeypatch.setattr(defaultplusplus, "run", run)
    file = tmp_path / "rows.jsonl"
    assert defaultplusplus.main(["--answer", "textbook", "--kept", str(file)]) == 0
    assert asked == [("control", "transformers' own"), ("right", "textbook")]
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["found"]["name"] for row in rows] == ["transformers' own", "textbook"]
    assert all(row["date"] and row["here"]["processor"] and row["here"]["torch"] for row in rows)
    printed = capsys.readouterr().out
    assert rows[0]["date"] in printed and "| right | 1 | 1 | – |" in printed

    assert defaultplusplus.main(["--answer", "textbook", "--answer", "no_scale", "--kept", str(file), "--resume"]) == 0
    assert asked[2:] == [("wrong", "no_scale"), ("rewritten", "no_scale")]
    assert "| right | 1 | 1 | – |" in capsys.readouterr().out
