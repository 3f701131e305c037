"""`autograder hunts`: list, show, check, prove."""

import json

import pytest

from autograder import cli
from autograder.exercises.answers import EditedAnswer
from autograder.hunts import make

ID = "masks.causal/sees_one_ahead"


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        cli.main(["hunts", *words])
    return int(end.value.code or 0)


def test_list_names_every_hunt_with_its_level(capsys):
    assert run("list", "masks.causal") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 12 and lines[-1] == "11 hunts"
    assert all("level " in line and "not measured" not in line for line in lines[:-1])


def test_show_tells_only_who_names_the_hunt_where_the_fault_is(capsys):
    assert run("show", ID) == 0
    named = capsys.readouterr().out
    assert "  5      return torch.ones" in named and "sees_one_ahead in line 5" in named
    assert run("show", "masks.causal", "--student", "ada", "--seed", "3") == 0
    drawn = capsys.readouterr().out
    assert "The symptom" in drawn and not any(hunt.names[0] in drawn for hunt in make.hunts(make.find(ID).exercise))


def test_check_grades_what_is_handed_in(tmp_path, capsys):
    test, repair = tmp_path / "t.py", tmp_path / "r.py"
    test.write_text("def test_it(answer):\n    assert torch.equal(answer(4), torch.ones(4, 4).tril().bool())\n")
    repair.write_text(make.find(ID).repair)
    assert run("check", ID, "--lines", "5", "--test", str(test), "--repair", str(repair), "--json") == 0
    assert json.loads(capsys.readouterr().out)["status"] == "passed"
    assert run("check", ID, "--lines", "1") == 1
    assert "The fault is not in the lines that you suspected." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("check", ID), "nothing is handed in: give --lines, --test or --repair"),
        (("check", ID, "--test", "absent.py"), "there is no file absent.py"),
        (("show", "masks.causal/absent"), "has no fault called 'absent'"),
        (("show", "masks.causall"), "no exercise is called 'masks.causall'"),
        (("list", "--results", "absent.jsonl"), "there is no file absent.jsonl"),
    ],
)
def test_what_cannot_be_carried_out_is_refused_in_a_line(words, why, capsys):
    assert run(*words) == 2
    error = capsys.readouterr().err
    assert why in error and error.count("\n") == 1


@pytest.mark.parametrize("seed", [str(10**22), "-1", str(1 << 32), "1.5"])
def test_a_seed_that_no_generator_takes_is_refused(seed, capsys):
    assert run("show", "page.gpt2", f"--seed={seed}") == 2
    error = capsys.readouterr().err
    assert error.endswith(f"argument --seed: a seed is a whole number from 0 to 4294967295, not '{seed}'\n")


def test_no_line_at_all_may_be_suspected(capsys):
    assert run("check", ID, "--lines=", "--json") == 1
    lines = json.loads(capsys.readouterr().out)["parts"][0]
    assert (lines["status"], lines["points"]) == ("failed", 0)
    assert lines["sentences"] == ["The fault is not in the lines that you suspected."]


def test_code_that_does_not_end_is_told_in_a_line(monkeypatch, capsys):
    fault = make.find(ID).faults[0]
    endless = "-    return torch.ones(length, length, dtype=torch.bool).tril()\n+    while True: pass"
    hunt = make.Hunt(make.find(ID).exercise, (EditedAnswer("endless", fault.base, "A sentence.", endless),))
    monkeypatch.setattr(make, "draw", lambda *_: hunt)
    monkeypatch.setattr("autograder.hunts.symptom.SECONDS", 0.1)
    assert run("show", "masks.causal", "--seed", "3") == 2
    error = capsys.readouterr().err
    assert "masks.causal, seed 3: the code does not end with these inputs; take another seed" in error
    assert error.count("\n") == 1


def test_list_takes_levels_from_proofs_of_every_seed_and_sample(tmp_path, capsys):
    file = tmp_path / "hunts.jsonl"
    words = ("--only", "masks.causal", "--seed", "2", "--sample", "2", "--workers", "2", "--results", str(file))
    assert run("prove", *words) == 0
    capsys.readouterr()
    assert run("list", "masks.causal", "--results", str(file)) == 0
    assert capsys.readouterr().out.count("level not measured") == 9
    assert run("list", "masks.causal", "--faults", "2", "--results", str(file)) == 2
    error = capsys.readouterr().err
    assert f"{file} has no results of hunts with 2 faults" in error and error.count("\n") == 1


def test_an_interrupted_proof_goes_on_and_list_reads_it(tmp_path, capsys, monkeypatch):
    file = tmp_path / "hunts.jsonl"
    assert run("prove", "--only", "masks.causal", "--results", str(file)) == 0
    assert "11 hunts: 11 observable" in capsys.readouterr().out
    monkeypatch.setattr("autograder.hunts.prove.prove_exercise", lambda *_: pytest.fail("it was proved again"))
    assert run("prove", "--only", "masks.causal", "--results", str(file)) == 0
    assert run("list", "masks.causal", "--results", str(file)) == 0
    assert "level not measured" not in capsys.readouterr().out


def test_hunts_in_whole_models_are_proved_too(capsys):
    assert run("prove", "--pages", "--only", "page.gpt2", "--sample", "1") == 0
    assert "1 hunts: 1 observable" in capsys.readouterr().out
