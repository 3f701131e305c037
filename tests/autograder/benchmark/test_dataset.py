"""The dataset is the corpus, whole and the same at every export; the card says what is in it."""

import json
import re
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from autograder import cli
from autograder.benchmark import load
from autograder.benchmark.archive import write
from autograder.benchmark.blind import blind_rows, to_judge
from autograder.benchmark.dataset import DatasetError, dataset, export
from autograder.exercises import registry
from autograder.exercises.answers import KINDS, answers

BLIND = [Path(__file__).parents[2] / name for name in ("blind", "blind_2", "blind_3")]


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


def test_a_hunt_is_a_repair_with_a_fault_in_the_lines_that_it_names():
    known = {row["id"]: row for row in rows()["answers.jsonl"]}
    assert len(rows()["hunts.jsonl"]) > 1000
    for hunt in rows()["hunts.jsonl"]:
        assert known[hunt["repair"]]["correct"] and hunt["code"] != known[hunt["repair"]]["code"]
        assert hunt["sentence"] and hunt["sentence"] not in hunt["code"], hunt["id"]
        (lines,) = hunt["fault_lines"]
        assert lines and all(1 <= line <= len(hunt["code"].splitlines()) for line in lines)


def test_answers_by_other_hands_have_what_their_authors_and_their_readers_said():
    found = list(blind_rows(BLIND))
    assert len({row["id"] for row in found}) == len(found) == 1180
    assert {row["kind"] for row in found} == {"blind right", "blind wrong"}
    wrong = next(row for row in found if row["id"] == "blind_2/attention.attend/wrong/picks_the_best_state")
    assert not wrong["correct"] and wrong["said"] == "false" and "argmax" in wrong["why"] and wrong["label"]
    assert wrong["label"] not in wrong["code"] and "import torch" in wrong["given"]
    assert to_judge(wrong)["code"].endswith(wrong["code"])
    lab = next(row for row in found if "from tfkit_lab import" in row["given"])
    assert "tfkit_lab" not in to_judge(lab)["code"] and "import torch" in to_judge(lab)["code"]
    assert all(row["said"] is None for row in found if row["correct"])


def test_the_card_lists_every_value_that_readers_gave():
    card = files("autograder.benchmark").joinpath("card.md").read_text(encoding="utf-8")
    for key in ("said", "names", "named", "line"):
        listed = re.search(rf"`{key}` \(([^)]*)\)", card)[1]
        assert {row[key] for row in blind_rows(BLIND)} - {None} == set(re.findall(r"`([^`]+)`", listed)), key


def test_a_column_has_one_type_as_tables_need_it():
    tables = {**rows(), "blind.jsonl": list(blind_rows(BLIND))}
    for name, table in tables.items():
        for key in table[0]:
            kinds = {type(row[key]) for row in table} - {type(None)}
            assert len(kinds) == 1 and all(list(row) == list(table[0]) for row in table), (name, key)


def test_what_is_loaded_is_what_was_written_from_a_folder_and_from_a_zip_file(tmp_path):
    (blind, *_) = blind_rows(BLIND[1:2], ["masks.causal"])
    described = export(tmp_path / "out", [blind])
    assert load(tmp_path / "out")["blind"] == [blind] and described["counts"]["blind"] == 1
    head = (tmp_path / "out" / "README.md").read_text().split("---\n")[1]
    listed = {one["config_name"]: one["data_files"] for one in yaml.safe_load(head)["configs"]}
    assert listed == {name: f"{name}.jsonl" for name in ("answers", "pairs", "exercises", "hunts", "blind")}
    for name in ("one.zip", "two.zip"):
        write(tmp_path / name, {file.name: file.read_text() for file in sorted((tmp_path / "out").iterdir())})
    assert load(tmp_path / "one.zip") == load(tmp_path / "out")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_a_dataset_that_was_changed_is_not_loaded(tmp_path):
    sums = {"answers.jsonl": "0" * 64}
    write(tmp_path / "out", {"dataset.json": json.dumps({"sha256": sums}), "answers.jsonl": "{}\n"})
    with pytest.raises(DatasetError, match=r"answers\.jsonl has changed"):
        load(tmp_path / "out")
    (tmp_path / "out" / "answers.jsonl").unlink()
    for path in (tmp_path / "out", tmp_path / "absent", Path(__file__)):
        with pytest.raises(DatasetError, match="no dataset"):
            load(path)


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
    assert not [word for word in ("<version>", "<right>", "<pairs>", "<named>", "blind.jsonl\n-") if word in card]


def test_nothing_is_written_over(tmp_path):
    (tmp_path / "mine").write_text("x")
    with pytest.raises(DatasetError, match="not empty"):
        export(tmp_path)
    with pytest.raises(DatasetError, match="not empty"):
        export(tmp_path / "mine")
    (tmp_path / "mine.zip").touch()
    with pytest.raises(DatasetError, match="not empty"):
        write(tmp_path / "mine.zip", {})


def test_an_export_has_the_answers_of_the_folders_that_are_named(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["benchmark", "export", str(tmp_path / "out.zip"), "--blind", str(BLIND[0]), "--blind", str(BLIND[1])])
    assert ended.value.code == 0
    there = load(tmp_path / "out.zip")["blind"]
    assert {row["set"] for row in there} == {"blind", "blind_2"}
    assert f"{len(there)} blind" in capsys.readouterr().out
