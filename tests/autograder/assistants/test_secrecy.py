"""No line of a solution goes out, however it is laid out or quoted; what is not one goes out as it is."""

import ast
import threading
import time

import pytest

from autograder.assistants import secrecy
from autograder.assistants.secrecy import LONGEST, WITHHELD, solution_lines, squeeze, withhold
from autograder.assistants.statement import definition
from autograder.diagnosis.diagnose import student_sentence
from autograder.exercises import registry
from autograder.exercises.answers import answers

LINE = "h = torch.tanh(x @ w_x + h @ w_h + b)"  # of rnn.cell's reference, in its own words


@pytest.fixture(autouse=True)
def one_line(monkeypatch):
    monkeypatch.setattr("autograder.assistants.secrecy.solution_lines", lambda: frozenset({squeeze(LINE)}))


@pytest.mark.parametrize(
    "text",
    [
        LINE,
        f"    {LINE}",
        LINE.replace(" ", ""),
        repr(f"\n{LINE}\n"),
        f"ValueError: {LINE}",
        LINE.replace("@", "\n@"),
        f"'{LINE[:9]}' '{LINE[9:]}'",
    ],
)
def test_a_line_is_withheld(text):
    assert squeeze(LINE) not in squeeze(withhold(text)) and WITHHELD in withhold(text)


def test_only_the_line_is_withheld_of_a_text():
    assert withhold(f"before\n{LINE}\nafter") == f"before\n{WITHHELD}\nafter"


def test_in_lists_and_keys_too():
    assert withhold({"a": [LINE, 3, None], LINE: True}) == {"a": [WITHHELD, 3, None], WITHHELD: True}
    assert withhold(LINE.split(" ")) == [WITHHELD]


def test_the_students_own_line_comes_back():
    assert withhold({"line": LINE}, own=f"def f():\n    {LINE}\n") == {"line": LINE}


def test_other_texts_stay_and_long_ones_are_cut():
    assert withhold("Your scores are divided by d.") == "Your scores are divided by d."
    assert len(withhold("x" * 10 * LONGEST)) < LONGEST + 5


def test_the_lines_are_those_of_references_and_right_answers():
    assert len(solution_lines()) > 1500
    assert squeeze("return torch.ones(length, length, dtype=torch.bool).tril()") in solution_lines()


def test_no_sentence_of_the_course_is_withheld(monkeypatch):
    lines = solution_lines()
    monkeypatch.setattr("autograder.assistants.secrecy.solution_lines", lambda: lines)
    sentences = [
        student_sentence(path) for exercise in registry.exercises()[::4] for path in answers(exercise, "wrong")
    ]
    assert len(sentences) > 200 and [text for text in sentences if withhold(text) != text] == []
    assert withhold("Softmax is taken already: return logits.") == "Softmax is taken already: return logits."


def in_threads(call, count=3):
    threads = [threading.Thread(target=call) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_the_solutions_are_read_once_whoever_asks_first(monkeypatch):
    read = []
    monkeypatch.setattr(secrecy, "_lines_of", lambda exercise: read.append(exercise.id) or iter(()))
    secrecy._read_solution_lines.cache_clear()
    in_threads(solution_lines)
    secrecy._read_solution_lines.cache_clear()
    assert sorted(read) == sorted(exercise.id for exercise in registry.exercises())


def test_source_is_parsed_in_one_thread_at_a_time(monkeypatch):
    parsing, most, real = [], [], ast.parse

    def parse(source):
        parsing.append(1)
        most.append(len(parsing))
        time.sleep(0.05)
        parsing.pop()
        return real(source)

    monkeypatch.setattr(ast, "parse", parse)
    in_threads(lambda: definition("tfkit.nn.masks:causal_mask"))
    assert most == [1, 1, 1]
