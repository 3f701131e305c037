"""Verdicts in the formats of CI services: annotations on lines, summaries, reports; nothing in them can break out."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from autograder.api import CheckResult, Verdict
from autograder.checking import ci
from autograder.checking.command import FORMATS
from autograder.cli import main
from autograder.grade.notebook import LocatedVerdict, NotebookResult

EVIL = "a ##[error]b ##[stop-commands]c\n::error::b\r| `c` <script> ```\x1b[1m %0A"
FILE = Path("release/02, masks.ipynb")


def verdict(status, **fields):
    given = {"exercise": "masks.causal", "status": status, "score": 0.0, "max_score": 2.0, "title": "The causal mask"}
    return Verdict(**(given | fields))


RIGHT = LocatedVerdict(verdict("passed", score=2.0, exercise="masks.padding"), 3, (11, 12))
WRONG = LocatedVerdict(
    verdict(
        "failed",
        hint=f"The diagonal is hidden. {EVIL}",
        line=2,
        departure={"cell": "x", "line": 2, "text": "  return a > b", "sentence": "it is False", "steps": [],
                   "value": None},
        checks=(CheckResult(name="values", status="failed", message="1 at [0, 0]"),),
    ),
    7, (20, 21, 22),
)  # fmt: skip
STUB = LocatedVerdict(
    verdict("failed", exercise="masks.softmax", checks=(CheckResult(name="written", status="failed"),)), 9, (30,)
)
BROKEN = LocatedVerdict(verdict("not_graded", exercise="masks.decoder", reason=EVIL))
RESULT = NotebookResult(FILE, (RIGHT, WRONG, STUB, BROKEN))
ODD = NotebookResult(Path("odd.ipynb"), problem="odd.ipynb is not a notebook\n::set-output")


def test_github_gets_one_line_for_each_annotation_whatever_is_in_it():
    lines = list(ci.github([RESULT, ODD], 3))
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::notice", "::warning", "::warning"]
    assert lines[0].startswith("::error file=release/02%2C masks.ipynb,line=21,title=masks.causal%3A not yet right::")
    assert "Cell 7, line 2: it is False.%0A    return a > b%0AThe diagonal is hidden." in lines[0]
    assert lines[0].endswith("0 of 2 points") and "line=30," in lines[1] and "file=odd.ipynb,line=1," in lines[3]
    assert all(line.count("\n") == line.count("\r") == line.count("\x1b") == 0 for line in lines)


def test_with_fewer_hints_an_annotation_points_to_the_cell_alone():
    first = next(iter(ci.github([RESULT], 1)))
    assert "line=20," in first and "Cell 7%0A" in first and "return a" not in first


def test_the_log_holds_no_line_that_github_would_read_as_a_command():
    """GitHub reads `::` at the beginning of a line, and `##[` anywhere in it."""
    hashes = NotebookResult(Path("##[stop-commands]x.ipynb"), problem="##[error]a is not a notebook")
    stop, *lines, go = "\n".join(ci.github_log([RESULT, ODD, hashes], 3)).splitlines()
    token = stop.removeprefix("::stop-commands::")
    assert go == f"::{token}::" and len(token) == 32 and token not in "".join(lines)
    assert len(lines) == 7 and not [line for line in lines if line.lstrip().startswith("::") or "##[" in line]
    assert "## [stop-commands]c" in lines[4] and lines[6].startswith("## [error]a is not")
    assert stop != next(iter(ci.github_log([], 3)))


def test_the_log_gives_away_no_more_than_the_hints_allow():
    named = LocatedVerdict(verdict("failed", misconception="masks.shifted", misconceptions=("masks.shifted",)))
    assert "masks.shifted" in "\n".join(ci.log_lines([NotebookResult(FILE, (named,))], 1))
    assert list(ci.log_lines([NotebookResult(FILE, (named,))], 0)) == [FILE.as_posix(), "  ✗ masks.causal 0/2"]


def test_the_summary_counts_points_and_shows_the_cards_of_what_is_wrong():
    text = ci.markdown([RESULT, ODD], 3)
    assert "**2 of 8 points**" in text and "| The causal mask | ✗ not yet right | 0 of 2 |" in text
    assert "○ to be written" in text and text.count("<details>") == 2
    assert "<script>" not in text.partition("<details>")[0] and "````text\n" in text
    assert "? odd.ipynb is not a notebook\\n::set-output".replace("\\n", "\\\\n") in text


def test_a_title_within_html_is_escaped_as_html_alone():
    """Markdown is not read there, so that its backslashes would be shown."""
    odd = LocatedVerdict(verdict("failed", title="a_b *c* <d>"))
    text = ci.markdown([NotebookResult(FILE, (odd,))], 3)
    assert "<summary>a_b *c* &lt;d&gt;</summary>" in text and "| a\\_b \\*c\\* &lt;d&gt; |" in text


def test_a_summary_stays_below_the_size_that_github_refuses():
    long = LocatedVerdict(verdict("failed", checks=(CheckResult(name="v", status="failed", message="é" * 30_000),)))
    text = ci.markdown([NotebookResult(Path(f"{number}.ipynb"), (long, long)) for number in range(40)], 3)
    assert 900_000 < len(text.encode()) < 2**20
    assert text.count("| The causal mask |") == 80, "the tables go before the cards"
    shown = text.count("<details>")
    assert text.count("</details>") == shown and f"takes no more: notebooks: 0, cards: {80 - shown}." in text


def test_notebooks_too_many_for_a_summary_are_counted():
    text = ci.markdown([NotebookResult(Path("a.ipynb"), problem="x" * 300_000)] * 5 + [RESULT], 3)
    assert len(text.encode()) < 2**20 and text.count("### a.ipynb") == 3 and "**2 of 8 points**" in text
    assert "takes no more: notebooks: 2, cards: 0." in text
    assert "Not shown" not in ci.markdown([RESULT], 3)


def test_gitlab_reads_the_reports():
    root = ElementTree.fromstring(ci.junit([RESULT, ODD], 3).encode())
    cases = {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}
    assert cases == {"masks.padding": [], "masks.causal": ["failure"], "masks.softmax": ["skipped"],
                     "masks.decoder": ["error"], "odd.ipynb": ["error"]}  # fmt: skip
    entries = json.loads(ci.code_quality([RESULT, ODD], 3))
    assert [entry["severity"] for entry in entries] == ["major", "info", "critical", "critical"]
    assert entries[0]["location"] == {"path": "release/02, masks.ipynb", "lines": {"begin": 21}}
    assert len({entry["fingerprint"] for entry in entries}) == 4


def released(folder, answer):
    """A notebook with one answered exercise and one stub."""

    def cell(role, exercise, source):
        metadata = {"tfkit": {"role": role, "exercise": exercise}}
        return {"cell_type": "code", "id": f"{role}-{exercise}".replace(".", "-"), "metadata": metadata,
                "source": source.splitlines(keepends=True), "outputs": [], "execution_count": None}  # fmt: skip

    stub = "def padding_mask(ids, pad_id):\n    raise NotImplementedError"
    cells = [cell("exercise", "masks.causal", answer), cell("check", "masks.causal", ""),
             cell("exercise", "masks.padding", stub), cell("check", "masks.padding", "")]  # fmt: skip
    file = folder / "02-masks.ipynb"
    file.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))
    return file


ANSWER = "import torch\ndef causal_mask(length):\n    return torch.ones(length, length).{}().bool()"


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main(["check", *map(str, arguments)])
    return end.value.code


def test_a_notebook_is_checked_whole(tmp_path, monkeypatch, capsys):
    file, summary = released(tmp_path, ANSWER.format("tril")), tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert run(file, "--format", "github", "--ignore-unwritten") == 0
    said = capsys.readouterr().out
    assert "✓ masks.causal 1/1" in said and said.count("::notice") == 1 and "::error" not in said
    assert "**1 of 2 points**" in summary.read_text()
    assert run(file) == 1 and "masks.padding failed, 0 of 1" in capsys.readouterr().out


def test_a_wrong_answer_fails_and_a_broken_file_costs_no_other_its_reports(tmp_path, capsys):
    file, broken = released(tmp_path, ANSWER.format("triu")), tmp_path / "broken.ipynb"
    broken.write_text("{")
    assert run(broken, file, "--format", "gitlab", "-o", tmp_path / "reports", "--ignore-unwritten") == 2
    assert "broken.ipynb is not a notebook" in capsys.readouterr().err
    root = ElementTree.parse(tmp_path / "reports" / ci.JUNIT).getroot()
    assert len(list(root.iter("failure"))) == len(list(root.iter("error"))) == len(list(root.iter("skipped"))) == 1
    wrong, line = json.loads((tmp_path / "reports" / ci.CODE_QUALITY).read_text())[1], "torch.ones(length, length).triu"
    assert line in file.read_text().splitlines()[wrong["location"]["lines"]["begin"] - 1]


@pytest.mark.parametrize("style", FORMATS)
def test_names_of_files_that_are_no_text_break_no_format(tmp_path, monkeypatch, capsys, style):
    """A name that is not UTF-8, a command in a name, and an answer with half a character."""
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    named = os.fsdecode(bytes(tmp_path) + b"/\xe9.ipynb")
    file = released(tmp_path, ANSWER.format("triu") + "  # \ud800").rename(named)
    missing = tmp_path / "a\n::error::b\x1b ##[error]c.ipynb"
    assert run(file, missing, "--format", style, "-o", tmp_path / "reports") == 2
    told = capsys.readouterr()
    assert "there is no file" in told.err and len(told.err.splitlines()) == 1 and "\x1b" not in told.err
    assert (style == "github") != ("##[error]c" in told.err)
    assert "\\udce9.ipynb" in told.out and (style != "github" or "\\udce9.ipynb" in summary.read_text("utf-8"))
    if style == "gitlab":
        entries = json.loads((tmp_path / "reports" / ci.CODE_QUALITY).read_text("utf-8"))
        assert entries[0]["location"]["path"].endswith("\\udce9.ipynb")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["masks.causal"], "no file is named"),
        (["masks.causal", "a.py", "--format", "github"], "is for whole notebooks"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments, complaint, capsys):
    assert run(*arguments) == 2 and complaint in capsys.readouterr().err
