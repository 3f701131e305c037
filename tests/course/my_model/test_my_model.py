"""The package of a student's own parts: what is collected, how it is marked, and that the model is made of it."""

import importlib
import json
import shutil
import time
from types import SimpleNamespace

import pytest
import torch

from course import exercises, my_model, units
from course.my_model.__main__ import main
from course.my_model.collect import collect
from course.my_model.measure import measure
from course.notebook import source_notebook
from tfkit_lab.course import record

RECURRENT = """
def rnn_encode(x, w_x, w_h, b):
    h, states = torch.zeros_like(x[:, 0] @ w_x), []
    for step in x.unbind(1):
        h = torch.tanh(step @ w_x + h @ w_h + b)
        states.append(h)
    return torch.stack(states, 1)
"""
SENTINEL = """
def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool)  # sees the future
"""


def write_notebook(root, unit, answers):
    """A notebook with these answers, as one in a student's folder."""
    cells = [
        {"cell_type": "code", "metadata": {"tfkit": {"role": "exercise", "exercise": name}}, "source": source}
        for name, source in answers.items()
    ]
    (root / unit).mkdir(exist_ok=True)
    (root / unit / f"{unit}.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}}))


def passes(root, *names, status="passed"):
    for name in names:
        record(root, {"exercise": name, "status": status, "score": 1.0, "max_score": 1.0, "checks": []})


@pytest.fixture
def student(tmp_path):
    """One exercise of unit 01 passed, one of 02 not."""
    write_notebook(tmp_path, "01-recurrence-to-attention", {"rnn.encode": RECURRENT})
    write_notebook(tmp_path, "02-masks", {"masks.causal": SENTINEL})
    passes(tmp_path, "rnn.encode")
    passes(tmp_path, "masks.causal", status="failed")
    return tmp_path


def test_only_what_passed_is_the_students_own_and_the_rest_is_marked(student):
    collect(student)
    text = (student / "my_model" / "__init__.py").read_text()
    assert RECURRENT.strip() in (student / "my_model" / "unit_01_rnn_encode.py").read_text()
    assert not (student / "my_model" / "unit_02_masks_causal.py").exists()
    assert "# 01 · A recurrent encoder (rnn.encode): yours" in text
    assert "# 02 · Causal mask (masks.causal): the library's, not passed yet" in text
    package = my_model.load(student)
    assert (
        package.rnn_encode.__module__ == "my_model.unit_01_rnn_encode"
        and package.causal_mask.__module__ == "tfkit.nn.masks"
    )
    for exercise in exercises():
        assert all(hasattr(package, symbol) for symbol in exercise.symbols)


def test_the_file_grows_in_the_courses_order(student):
    before = collect(student)
    passes(student, "masks.causal")
    after = collect(student)
    assert sum(part.code is not None for part in after) == sum(part.code is not None for part in before) + 1
    text = (student / "my_model" / "__init__.py").read_text()
    assert text.index("(rnn.encode)") < text.index("(masks.causal)") < text.index("(training.train_loop)")


def test_code_that_needs_another_cell_stays_the_librarys_with_the_reason(student):
    write_notebook(student, "02-masks", {"masks.causal": "def causal_mask(length):\n    return helper(length)\n"})
    passes(student, "masks.causal")
    collect(student)
    assert "yours uses helper from another cell" in (student / "my_model" / "__init__.py").read_text()
    assert my_model.load(student).causal_mask(2).tolist() == [[True, False], [True, True]]


def test_a_running_notebooks_cell_counts_before_its_file_is_saved(student):
    passes(student, "masks.causal")
    edited = SENTINEL.replace("sees the future", "just edited")
    collect(student, ["x = 1", edited, "%matplotlib inline"])
    assert "just edited" in (student / "my_model" / "unit_02_masks_causal.py").read_text()


def test_the_students_own_function_decides_the_numbers_and_the_table_grows(student, capsys):
    my_model.add_unit("01", steps=2, root=student)
    my_model.add_unit("02-masks", steps=2, root=student)
    passes(student, "masks.causal")
    right = my_model.read_table(student / "my_model" / "table.jsonl")
    my_model.add_unit("02", steps=2, root=student)
    wrong = my_model.read_table(student / "my_model" / "table.jsonl")
    assert [line["unit"] for line in wrong] == [1, 2] and wrong[0] == right[0]
    assert wrong[1]["bits_per_byte"] != right[1]["bits_per_byte"]  # the sentinel mask is in the model
    assert (right[1]["own"], wrong[1]["own"]) == (1, 2)
    assert "Causal mask: yours, as it stands now" in capsys.readouterr().out


def test_a_unit_that_puts_nothing_in_and_a_damaged_table_are_refused_in_one_line(student):
    with pytest.raises(ValueError, match="unit '12' puts nothing into the model; these do: 01, 02"):
        my_model.add_unit("12", root=student)
    with pytest.raises(ValueError, match="unit 12 puts nothing"):
        my_model.add_unit(12, root=student)
    with pytest.raises(ValueError, match="at least one step"):
        my_model.add_unit(1, steps=0, root=student)
    (student / "my_model").mkdir()
    (student / "my_model" / "table.jsonl").write_text("{")
    with pytest.raises(ValueError, match="delete it"):
        my_model.read_table(student / "my_model" / "table.jsonl")


HELPED = """
def step(x, h, w_x, w_h, b):
    return torch.tanh(x @ w_x + h @ w_h + b)

def rnn_encode(x, w_x, w_h, b):
    h, states = torch.zeros_like(x[:, 0] @ w_x), []
    for one in x.unbind(1):
        h = step(one, h, w_x, w_h, b)
        states.append(h)
    return torch.stack(states, 1)
"""


def test_helpers_of_one_name_in_two_units_do_not_meet(student):
    write_notebook(student, "01-recurrence-to-attention", {"rnn.encode": HELPED})
    mask = "def step(n):\n    return torch.ones(n, n).bool()\n\ndef causal_mask(n):\n    return step(n).tril()\n"
    write_notebook(student, "02-masks", {"masks.causal": mask})
    passes(student, "masks.causal")
    assert [part.exercise.id for part in collect(student) if part.code is not None] == ["rnn.encode", "masks.causal"]
    package = my_model.load(student)
    assert package.causal_mask(2).tolist() == [[True, False], [True, True]]
    states = package.rnn_encode(torch.zeros(1, 2, 3), torch.eye(3), torch.eye(3), torch.ones(3))
    assert torch.allclose(states[0, 1], torch.tanh(1 + torch.tanh(torch.ones(3))))


@pytest.mark.parametrize(
    "cell",
    [
        f"from __future__ import annotations\n{RECURRENT}",
        f"{RECURRENT}\nprint(rnn_encode)\nassert rnn_encode\nraise SystemExit\nunfinished = 1 / 0\n",
        f"%%time\n{RECURRENT}",
        f"{RECURRENT}\n!ls\n",
    ],
    ids=["future", "tried out", "cell magic", "shell"],
)
def test_a_cell_that_passed_is_put_in_whatever_stands_around_the_function(student, capsys, cell):
    write_notebook(student, "01-recurrence-to-attention", {"rnn.encode": cell})
    assert sum(part.code is not None for part in collect(student)) == 1
    assert my_model.load(student).rnn_encode.__module__ == "my_model.unit_01_rnn_encode"
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        (f"{RECURRENT}\n[][0]\n[].pop()", "yours cannot be imported (IndexError: pop from empty list)"),
        (f"{RECURRENT}\nexit()", "yours cannot be imported (SystemExit: None)"),
        (f"{RECURRENT}\ndel rnn_encode", "yours cannot be imported (ImportError: cannot import name 'rnn_encode'"),
        (f"files = !ls\n{RECURRENT}", "your cell cannot be read as Python (line 1: "),
        ("x = 1", "your cell does not define rnn_encode"),
    ],
)
def test_a_cell_that_cannot_be_a_module_gives_way_to_the_library_with_the_reason(student, cell, reason):
    write_notebook(student, "01-recurrence-to-attention", {"rnn.encode": cell})
    passes(student, "masks.causal")
    parts = {part.exercise.id: part for part in collect(student)}
    assert parts["rnn.encode"].reason.startswith(reason) and parts["masks.causal"].code is not None
    package = my_model.load(student)
    assert package.rnn_encode.__module__.startswith("tfkit.")
    assert package.causal_mask.__module__ == "my_model.unit_02_masks_causal"
    assert not (student / "my_model" / "unit_01_rnn_encode.py").exists()


def test_a_part_uses_earlier_parts_and_helpers_of_its_unit(student):
    both = {
        "masks.padding": "BIG = torch.tensor(0)\n\ndef padding_mask(ids, pad_id):\n    return ids != pad_id + BIG\n",
        "masks.causal": "def causal_mask(n):\n    return (torch.ones(n, n) + BIG).tril().bool()\n",
    }
    order = [exercise.id for exercise in exercises() if exercise.id in both]
    write_notebook(student, "02-masks", both)
    passes(student, *both)
    own = [part.exercise.id for part in collect(student) if part.code is not None and part.exercise.id in both]
    assert own == (order if order[0] == "masks.padding" else ["masks.padding"])


@pytest.mark.parametrize("name", ["__init__.py", "model.py", "unit_01_rnn_encode.py"])
def test_a_file_of_the_students_own_is_never_overwritten(student, name, capsys):
    (student / "my_model").mkdir()
    (student / "my_model" / name).write_text("mine = 1\n")
    assert main([str(student)]) == 1
    assert f"my_model/{name} was not written by the course" in capsys.readouterr().err
    assert [(path.name, path.read_text()) for path in (student / "my_model").iterdir()] == [(name, "mine = 1\n")]


def test_a_file_in_the_packages_place_is_told(tmp_path, capsys):
    (tmp_path / "my_model").write_text("mine")
    assert main([str(tmp_path)]) == 1 and (tmp_path / "my_model").read_text() == "mine"
    assert "my_model is a file" in capsys.readouterr().err


@pytest.mark.parametrize("line", ['{"unit": 1}', "[1]", '"text"', "[" * 100_000])
def test_a_table_with_another_content_is_damaged(tmp_path, line):
    (tmp_path / "table.jsonl").write_text(line + "\n")
    with pytest.raises(ValueError, match="delete it"):
        my_model.read_table(tmp_path / "table.jsonl")


def test_the_command_works_in_the_folder_of_the_notebooks_as_the_file_says(student, monkeypatch):
    monkeypatch.chdir(student)
    assert main([]) == 0
    assert "`python -m course.my_model`" in (student / "my_model" / "__init__.py").read_text()


@pytest.fixture
def library():
    """The library's parts, with a loop and a rate of unit 06 that are as plain as those before."""
    parts = SimpleNamespace()
    for reference in (reference for exercise in exercises() for reference in exercise.references):
        module, _, name = reference.partition(":")
        setattr(parts, name, getattr(importlib.import_module(module), name))

    def plain_loop(model, loss_of, batches, held_out, optimizer, rate_at, evaluate_every):
        for step, batch in enumerate(batches, 1):
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.param_groups[0]["lr"] = rate_at(step)
            optimizer.step()

    parts.train_loop, parts.noam_rate = plain_loop, lambda step, width, warmup: 0.5
    return parts


def test_two_units_differ_in_their_parts_alone(library):
    assert measure(library, 6, 3)["bits_per_byte"] == measure(library, 5, 3)["bits_per_byte"]


def test_the_first_step_of_a_process_is_not_timed(library, monkeypatch):
    events, loop, clock = [], library.train_loop, time.process_time
    library.train_loop = lambda *given, **more: (events.append(len(given[2])), loop(*given, **more))
    monkeypatch.setattr(time, "process_time", lambda: (events.append("clock"), clock())[1])
    measure(library, 6, 2)
    assert events == [1, "clock", 2, "clock"]


@pytest.mark.nightly  # it trains eight models, for half a minute of processor time
def test_bits_per_byte_fall_with_the_parts_for_a_student_who_passes_everything(tmp_path):
    names = {exercise.id for exercise in exercises()}
    for folder in units():
        notebook = source_notebook(folder)
        (tmp_path / folder.name).mkdir()
        (tmp_path / folder.name / f"{folder.name}.ipynb").write_text(json.dumps(notebook))
    passes(tmp_path, *names)
    for unit in my_model.NEW:
        my_model.add_unit(f"{unit:02}", root=tmp_path)
    lines = my_model.read_table(tmp_path / "my_model" / "table.jsonl")
    assert all(line["own"] == line["of"] for line in lines)
    bits = {line["unit"]: line["bits_per_byte"] for line in lines}
    assert bits[1] > bits[2] > bits[3] > bits[4] > bits[5]
    assert bits[6] == bits[7] > bits[13]  # unit 06 trains otherwise than 05, unit 07 changes how it writes
    shutil.rmtree(tmp_path / "my_model")
