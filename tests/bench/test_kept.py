"""Stored rows are taken for one's own only if the same code, settings and machine made them."""

import subprocess

import pytest

from bench import kept


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A function that asks for rows, each measured as its length, and the names of those that were measured."""
    names = []
    monkeypatch.setattr(kept, "code", lambda folders: "0123456789ab")
    monkeypatch.setattr(kept, "commit", lambda folders: "c0ffee")
    file = tmp_path / "build/rows.jsonl"

    def ask(*rows, resume=True, **settings):
        run = kept.KeptRows(file, kept.environment(**settings), resume)
        return [run.row(name, lambda name=name: names.append(name) or len(name)) for name in rows]

    ask.names, ask.file = names, file
    return ask


def test_a_run_goes_on_where_it_was_cut_short(asked, capsys):
    asked("a")
    rows = asked("bb", "a")
    assert asked.names == ["a", "bb"] and [row["found"] for row in rows] == [2, 1]
    assert asked("bb", "a") == rows and len(asked.names) == 2
    asked("a", resume=False)
    assert asked.names[2:] == ["a"] and len(asked.file.read_text(encoding="utf-8").splitlines()) == 1
    assert capsys.readouterr().err.startswith("  a: ")


def test_a_run_that_begins_anew_leaves_rows_of_other_settings(asked):
    for turns in (2, 3, 3):
        asked("a", resume=False, turns=turns)
    assert len(asked.file.read_text(encoding="utf-8").splitlines()) == 2
    asked("a", turns=2)
    assert asked.names == ["a"] * 3


def test_a_row_whose_line_was_cut_short_is_measured_again(asked, capsys):
    asked("a", "bb")
    asked.file.write_text(asked.file.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    asked("a", "bb")
    assert asked.names == ["a", "bb", "bb"] and f"{asked.file}, line 2 was cut short" in capsys.readouterr().err
    asked("a", "bb")
    assert len(asked.names) == 3, "the line after the one that was cut short is read"


@pytest.mark.parametrize(("name", "other"), [
    ("bench.kept.code", "another"), ("bench.kept.code", ""), ("platform.node", "elsewhere"),
    ("bench.kept.processor", "faster"), ("torch.get_num_threads", 7),
])  # fmt: skip
def test_figures_of_other_code_or_another_machine_are_not_taken(name, other, asked, monkeypatch):
    asked("a", turns=2)
    asked("a", turns=2)
    assert asked.names == ["a"]
    asked("a", turns=3)
    monkeypatch.setattr(name, lambda *folders: other)
    asked("a", turns=3)
    assert asked.names == ["a"] * 3


def test_lines_of_an_earlier_form_are_not_taken(asked):
    asked.file.parent.mkdir()
    asked.file.write_text('{"name": "a", "length": 256, "ratios": {}, "floor": 1.0}\n', encoding="utf-8")
    asked("a")
    assert asked.names == ["a"]


def test_the_code_is_the_same_in_all_commits_that_have_it(tmp_path):
    def git(*words):
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", tmp_path, *who, *words], check=True, capture_output=True)

    def change(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return kept.commit(kept.MEASURED, tmp_path), kept.code(kept.MEASURED, tmp_path)

    assert kept.commit(kept.MEASURED, tmp_path) == kept.code(kept.MEASURED, tmp_path) == ""
    (tmp_path / "tfkit").mkdir()
    git("init")
    for name in ("tfkit/a.py", "page.md"):
        change(name, "1\n")
    git("add", ".")
    git("commit", "-m", "one")
    first, code = kept.commit(kept.MEASURED, tmp_path), kept.code(kept.MEASURED, tmp_path)
    assert len(first) == 12 and change("page.md", "2\n") == (first, code)
    git("commit", "-am", "a page")
    later = kept.commit(kept.MEASURED, tmp_path)
    assert later != first and kept.code(kept.MEASURED, tmp_path) == code
    changed = [change("tfkit/a.py", text) for text in ("2\n", "3\n")]
    assert [told for told, _ in changed] == [f"{later} with changes"] * 2
    assert len({code, *(found for _, found in changed)}) == 3
    change("tfkit/a.py", "1\n")
    assert change(".gitignore", "*.log\n") == change("tfkit/a.log", "1\n") == (later, code)
    new = [change(name, text) for name, text in (("tfkit/b.py", "1\n"), ("tfkit/b.py", "2\n"), ("tfkit/c.py", "2\n"))]
    assert [told for told, _ in new] == [f"{later} with changes"] * 3, "git's diff does not show files that are new"
    assert len({code, *(found for _, found in new)}) == 4


def test_a_page_tells_when_where_and_of_which_commits():
    here = {"torch": "2", "transformers": "5", "threads": 1, "processor": "A CPU", "cores": 2}
    rows = [{"date": f"2026-11-0{day}", "commit": word, "load": load} for day, word, load in
            [(2, "beef", 1.5), (1, "beef", 0.2), (1, "", None)]]  # fmt: skip
    assert kept.told(rows, here) == (
        "2026-11-01 and 2026-11-02: commit beef, torch 2, transformers 5, 1 thread, A CPU, 2 cores, at load 0.2 to 1.5"
    )
    assert "commit no commit" not in kept.told(rows[2:], here)
