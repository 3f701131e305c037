"""`autograder viva`."""

import json

import pytest

from autograder import cli
from autograder.nbgrader import config
from autograder.questions import record
from autograder.sandbox import choose
from autograder.viva import page

from ..questions.conftest import ATTEND

UNIT = "01-recurrence-to-attention"


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        cli.main(list(words))
    return int(end.value.code or 0)


@pytest.fixture
def backend():
    return choose(trust=True)


@pytest.fixture
def course(tmp_path):
    """A course in which Ada answered one exercise, and Eve's notebook is broken."""
    root = tmp_path / "course"
    root.mkdir()
    config.install(root)
    cell = {"cell_type": "code", "id": "one", "metadata": {}, "source": ATTEND, "outputs": [], "execution_count": None}
    stub = {**cell, "id": "two", "source": "class RNNCell:\n    <b>"}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [stub, cell]}
    for student, text in (("ada", json.dumps(notebook)), ("eve", "{broken")):
        path = root / "submitted" / student / UNIT / f"{UNIT}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    asked = [{"prompt": "What is <b>?", "answer": "4", "right": True}]
    folder = root / "submitted" / "ada" / UNIT
    record.seal(folder, "attention.attend", "0", asked)
    record.seal(folder, "attention.attend", record.digest(ATTEND), [asked[0] | {"prompt": "And `now`?"}])
    (folder / "0.ipynb").write_text("{not of the assignment")
    half = {"answered": {"a": {"code": "0", "at": "2026", "asked": [asked[0] | {"prompt": "half \ud800"}]}}}
    (root / "submitted" / "eve" / UNIT / ".tfkit").mkdir()
    (root / "submitted" / "eve" / UNIT / record.FILE).write_text(json.dumps(half))
    return root


def test_viva_writes_a_page_for_each_student_whatever_was_handed_in(course, tmp_path, capsys):
    out = tmp_path / "talks"
    assert run("viva", str(course), UNIT, "-o", str(out), "--trust", "--seed", "0") == 0
    ada, eve = ((out / f"{UNIT}-{student}.html").read_text() for student in ("ada", "eve"))
    code, keys = ada.split("<details>")
    assert '<span class="tfkit-h-number">5</span>    scores = torch.einsum(' in code and code.count('class="q"') == 3
    assert keys.count('<th scope="row">') == 3 and "What is &lt;b&gt;?" in keys
    latest, earlier = keys.partition("about other code, or with another seed")[::2]
    assert "about the code as it was handed in" in latest and "And <code>now</code>?" in latest
    assert "What is &lt;b&gt;?" in earlier and "And" not in earlier
    assert 'class="q"' not in eve and "it is not a Jupyter notebook" in eve
    assert "0.ipynb" not in ada and "half ?" in eve and '<html lang="en">' in eve
    assert "eve: " in capsys.readouterr().err
    (out / f"{UNIT}-eve.html").unlink()
    assert run("viva", str(course), UNIT, "-o", str(out), "--trust") == 0
    told = capsys.readouterr()
    assert "ada: skipped" in told.err and told.out.startswith("seed ") and (out / f"{UNIT}-eve.html").exists()
    assert run("viva", str(course), UNIT, "zoe", "-o", str(out), "--trust") == 2
    assert "zoe has not submitted" in capsys.readouterr().err


def test_exercises_that_a_notebook_names_share_one_budget(course, backend, monkeypatch):
    """A notebook may name all of them, each with code that never ends: that took an hour and a quarter."""
    folder = course / "submitted" / "ada" / UNIT
    path = folder / f"{UNIT}.ipynb"
    notebook = json.loads(path.read_text())
    notebook["cells"] += [
        {**notebook["cells"][0], "id": f"c{n}", "source": f'check("{name}")', "metadata": {"tfkit": {
            "role": "check", "exercise": name}}} for n, name in enumerate(("masks.causal", "masks.padding"))
    ]  # fmt: skip
    path.write_text(json.dumps(notebook))
    monkeypatch.setattr(page, "PAGE_S", 0.0)
    assert page.page_of("ada", folder, UNIT, backend, 0, 5).problems == (page.OUT_OF_TIME.format(seconds=0),)


def test_a_failure_of_any_kind_is_a_line_of_that_student(course, tmp_path, capsys, monkeypatch):
    real = page.page_of

    def fails(student, *rest):
        if student == "ada":
            raise MemoryError("too much \ud800")
        return real(student, *rest)

    monkeypatch.setattr(page, "page_of", fails)
    assert run("viva", str(course), UNIT, "-o", str(tmp_path), "--trust") == 0
    assert r"ada: no page (MemoryError: too much \ud800)" in capsys.readouterr().err
    assert (tmp_path / f"{UNIT}-eve.html").exists()


def test_no_name_of_a_file_controls_the_terminal(course, tmp_path, capsys):
    title = "\x1b]0;yours\x07"
    (course / "submitted" / "eve" / UNIT / f"{UNIT}.ipynb").rename(
        course / "submitted" / "eve" / UNIT / f"{title}.ipynb"
    )
    assert run("viva", str(course), UNIT, "eve", "-o", str(tmp_path), "--trust") == 0
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err and r"eve: \x1b]0;yours\x07.ipynb: it is not" in said.err


def test_a_page_names_its_readers_language(monkeypatch, tmp_path, backend):
    monkeypatch.setenv("LANGUAGE", "fr")
    assert '<html lang="fr">' in page.page_of("ada", tmp_path, UNIT, backend, 0, 5).html
