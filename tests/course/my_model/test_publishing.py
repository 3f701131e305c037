"""The page of a student's own model: that it is theirs, loads nothing, and says no more than it should."""

import json
import re
from html import unescape

import polib
import pytest

from autograder.feedback import translate
from course import my_model
from course.my_model import NEW, publishing
from tfkit_lab.course import record

SAMPLE = """
def sample_token(logits, u, temperature=1.0):
    return torch.full((logits.size(0),), 65 + (u > 2).long().sum())  # always A
"""
LINE = {"unit": 7, "own": 1, "of": 6, "steps": 1, "bits_per_byte": 3.75, "bytes_per_second": 40000.0}


@pytest.fixture
def student(tmp_path):
    """Passed: the sampling of unit 07, which always draws the same letter. The table has two lines."""
    mark = {"tfkit": {"role": "exercise", "exercise": "decoding.sample"}}
    cell = {"cell_type": "code", "metadata": mark, "source": SAMPLE}
    (tmp_path / "07-decoding").mkdir()
    (tmp_path / "07-decoding" / "07-decoding.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}}))
    record(tmp_path, {"exercise": "decoding.sample", "status": "passed", "score": 1.0, "max_score": 1.0, "checks": []})
    (tmp_path / "my_model").mkdir()
    lines = [LINE | {"unit": 1, "bits_per_byte": 4.5}, LINE]
    (tmp_path / "my_model" / "table.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def test_the_page_shows_what_the_students_own_sampling_writes_and_none_of_its_code(student, capsys):
    page = student / "page.html"
    my_model.publish(page, "é <b>", title="<script>", root=student)
    text, written = page.read_text(), "é <b>" + "A" * publishing.MAX_NEW_BYTES
    assert capsys.readouterr().out.startswith(f"{written}\n{page} (")
    (quote,) = re.findall("<blockquote>(.*?)</blockquote>", text)
    assert unescape(quote) == f"<b>é <b></b>{'A' * publishing.MAX_NEW_BYTES}"
    (state,) = json.loads(re.search('id="state">(.*?)</script>', text, re.DOTALL)[1])
    trace = state["trace"]
    assert trace["prompt"] == ["↵", "<0xC3>", "<0xA9>", " ", "<", "b", ">"]
    assert [trace["nodes"][node]["token"] for node in trace["path"][1:]] == ["A"] * publishing.MAX_NEW_BYTES
    assert "default-src 'none'" in text and "<title>&lt;script&gt;</title>" in text
    assert not re.search(r"(src|href)=.https?:|url\(|@import", text.split('<script type="module">')[0])
    assert "made of 6 parts of a course, 1 of them my own code" in text and "needs 3.75 bits" in text
    assert "Sampling with a temperature (my own)" in text and "always A" not in text
    assert re.findall(r'<th scope="row">(\d+)', text) == ["01", "07"]


def test_another_seed_draws_another_text_and_the_same_seed_the_same(student, capsys):
    record(student, {"exercise": "decoding.sample", "status": "failed", "score": 0.0, "max_score": 1.0, "checks": []})
    (student / "07-decoding" / "07-decoding.ipynb").unlink()  # the library's sampling stands in

    def text(seed):
        my_model.publish(student / "page.html", "A", seed=seed, root=student)
        return capsys.readouterr().out.partition(f"\n{student}")[0]

    first = text(0)
    assert first.startswith("A") and text(0) == first != text(1)


def test_what_cannot_be_published_is_refused_in_a_line(student):
    notebook = student / "07-decoding" / "07-decoding.ipynb"
    before = notebook.read_text()
    with pytest.raises(ValueError, match="is no name of a page"):
        my_model.publish(notebook, root=student)
    assert notebook.read_text() == before
    for prompt in ("two\nlines", "x" * 64, "é" * 32):
        with pytest.raises(ValueError, match="write a shorter one"):
            my_model.publish(student / "page.html", prompt, root=student)
    (student / "my_model" / "table.jsonl").unlink()
    with pytest.raises(ValueError, match="call my_model.add_unit first"):
        my_model.publish(student / "page.html", root=student)


def test_the_words_of_the_page_and_of_each_unit_are_in_french(monkeypatch):
    known = {entry.msgid for entry in polib.pofile(str(translate.OWN_FOLDER / "locale" / "fr.po"))}
    assert known >= set(NEW.values())
    monkeypatch.setenv("LANGUAGE", "fr")
    text = publishing.describe_model(LINE, []) + publishing.html_table([LINE], NEW)
    assert "Un modèle de langage" in text and "bits par octet" in text and "échantillonnage" in text
