"""The tool that scores unit 05's translator runs the lesson's own cells on the corpus that it is given."""

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tools import translator


def test_the_lessons_cells_are_run_on_the_corpus_that_is_named():
    sources = translator.cells("vscode-de", 0.5)
    whole = "\n".join(sources)
    assert "corpus = parallel_corpus(name='vscode-de')" in whole and "MINUTES, AGAIN = 0.5, True" in whole
    assert "time.monotonic" not in whole, "a limit by the clock leaves a worse model on a busy machine"
    assert translator.LAST in sources[-1]
    assert "class Seq2SeqTransformer" in whole, "the student's own model is trained"
    for number, source in enumerate(sources):
        compile(source, f"cell {number}", "exec")


def test_a_lesson_without_the_switch_is_an_error(monkeypatch):
    other = new_notebook(cells=[new_code_cell("corpus = None", metadata={"tfkit": {"role": "experiment"}})])
    monkeypatch.setattr("course.notebook.source_notebook", lambda folder: other)
    with pytest.raises(ValueError, match="lesson.py has no 'corpus = parallel_corpus"):
        translator.cells("vscode-de", 0.5)
