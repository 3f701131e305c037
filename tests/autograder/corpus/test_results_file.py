"""The results file of `autograder corpus`: an exercise that is in it is not measured again."""

import json

import pytest

from autograder import cli
from autograder.corpus import command
from autograder.corpus.diagnosis import DiagnosisReport
from autograder.corpus.judge import Score
from autograder.corpus.lines import Lines
from autograder.corpus.results_file import CorpusResultsFile, ResultsFileError
from autograder.exercises import registry

TWO = ["masks.causal", "masks.padding"]


@pytest.fixture
def asked(monkeypatch):
    """The exercises that were measured, without the minute that each takes."""
    names = []

    def measure(name, **_):
        names.append(name)
        score = Score(name, right=2, wrong=3, rejected=3, named=3, notes=[f"{name}: a note"])
        return score, Lines(3, 2, 1), DiagnosisReport(name, pairs=4, both_named=3), None

    monkeypatch.setattr(command, "measure_exercise", measure)
    return names


def corpus(*arguments):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["corpus", *TWO, *arguments])
    return stopped.value.code


def test_a_second_run_measures_nothing_and_says_the_same(tmp_path, capsys, asked):
    file = tmp_path / "new" / "results.jsonl"
    assert corpus("--report", "--results", str(file)) == 0
    first = capsys.readouterr().out
    assert corpus("--report", "--results", str(file)) == 0
    assert capsys.readouterr().out == first
    assert asked == TWO
    assert "masks.padding: a note" in first and "first wrong line within 2 lines of the edit 4/6" in first


def test_an_interrupted_run_keeps_what_it_has(tmp_path, asked, monkeypatch):
    file, measure = tmp_path / "results.jsonl", command.measure_exercise

    def interrupted(name, **options):
        if asked == TWO[:1]:
            asked.append("Ctrl-C")
            raise KeyboardInterrupt
        return measure(name, **options)

    monkeypatch.setattr(command, "measure_exercise", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cli.main(["corpus", *TWO, "--results", str(file)])
    with file.open("a") as unfinished:
        unfinished.write('{"exercise": "masks.pad')  # as if it had been killed while it wrote
    assert corpus("--results", str(file)) == 0
    assert asked == [TWO[0], "Ctrl-C", TWO[1]]
    assert [json.loads(line)["exercise"] for line in file.read_text().splitlines()] == TWO


def test_other_options_or_code_are_measured_again(tmp_path, monkeypatch):
    exercise, file = registry.find(TWO[0]), tmp_path / "results.jsonl"
    CorpusResultsFile(file, {"seed": 0}).append(exercise, (None, None, None, None))
    assert CorpusResultsFile(file, {"seed": 0}).find(exercise) == (None, None, None, None)
    assert CorpusResultsFile(file, {"seed": 1}).find(exercise) is None
    monkeypatch.setattr("autograder.corpus.results_file.hash_of_code", lambda *_: "other code")
    assert CorpusResultsFile(file, {"seed": 0}).find(exercise) is None


@pytest.mark.parametrize(
    "text", ["no JSON\n", "[]\n", '{"exercise": "masks.causal"}\n', "3\n", "a line of notes", "one\ntwo"]
)
def test_a_file_of_another_kind_is_named_with_its_line(tmp_path, text, capsys):
    file = tmp_path / "notes.txt"
    file.write_text(text)
    with pytest.raises(ResultsFileError, match=r"notes\.txt, line 1, is not a result of `autograder corpus`"):
        CorpusResultsFile(file, {})
    assert corpus("--results", str(file)) == 2
    assert file.read_text() == text
    assert "name another file" in capsys.readouterr().err
