"""`autograder benchmark run`, stopped and continued."""

import pytest

from autograder.benchmark import command
from autograder.benchmark.measure import Result
from autograder.cli import main


def run(arguments):
    """The exit code."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    return stopped.value.code


def test_ctrl_c_keeps_what_was_judged_and_the_same_command_continues(monkeypatch, capsys, tmp_path):
    judged = []

    def judge(task):
        names, row = task
        judged.append(row["id"])
        if len(judged) == 3:
            raise KeyboardInterrupt
        return [Result(name, row["id"], row["exercise"], row["kind"], row["name"], False) for name in names]

    monkeypatch.setattr(command, "_judge", judge)
    asked = ["benchmark", "run", "--exercise", "masks.causal", "--output", str(tmp_path)]
    assert run(asked) == command.STOPPED
    error = capsys.readouterr().err
    assert f"{tmp_path} keeps them, and the same command continues" in error and "Traceback" not in error
    assert not (tmp_path / "table.md").exists()

    assert run(asked) == 0
    assert judged[2] == judged[3] and len(judged) == len(set(judged)) + 1  # only the interrupted one is judged again
    assert (tmp_path / "table.md").exists()


def test_judgements_of_another_dataset_are_not_continued(capsys, tmp_path):
    (tmp_path / "results.jsonl").touch()
    (tmp_path / "dataset.txt").write_text("0.1.0+another\n")
    assert run(["benchmark", "run", "--exercise", "masks.causal", "--output", str(tmp_path)]) == 2
    assert "dataset 0.1.0+another, and this is" in capsys.readouterr().err
