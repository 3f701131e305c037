"""Answers that count: all questions that the code gives are counted, whatever the student's record says of them."""

from __future__ import annotations

import pytest

from autograder.exercises import registry
from autograder.grade.run import CellSource
from autograder.questions import graded, record
from autograder.questions.elsewhere import (
    earlier_answers,
    guarded_imports,
    names_from_elsewhere,
    only_call,
    ways_elsewhere,
)
from autograder.questions.inputs import cases
from autograder.questions.question import fingerprint
from autograder.questions.runs import code_of


@pytest.fixture(scope="module")
def asked(made) -> list[dict]:
    return [one.as_json() for one in made[:3]]


def told(asked: list[dict]) -> list[dict]:
    """The right answers as a record has them."""
    return [
        {"of": fingerprint(one), "value": one["key"] + 1 if one["kind"] == "choice" else one["key"]} for one in asked
    ]


def notebook_of(*sources: str) -> dict:
    return {"cells": [{"cell_type": "code", "id": f"cell-{number}", "metadata": {}, "source": source, "outputs": []}
                      for number, source in enumerate(sources)]}  # fmt: skip


def renamed(entries: list[dict], kept: int) -> list[dict]:
    return [*entries[:kept], *({**one, "of": f"x{number}"} for number, one in enumerate(entries[kept:]))]


def test_right_answers_count_in_full_and_wrong_ones_do_not(asked):
    right = told(asked)
    assert graded._compared(asked, right)[:2] == (3, 3)
    wrong = [right[0], *({**one, "value": -99} for one in right[1:])]
    assert graded._compared(asked, wrong)[:2] == (1, 3)


@pytest.mark.parametrize("kept", [0, 1])
def test_a_record_in_which_questions_have_other_names_gains_nothing(asked, kept):
    judged = graded._compared(asked, renamed(told(asked), kept))
    assert judged[:2] == (kept, 3)
    assert f"which do not count: {3 - kept}." in judged.message and judged.message.count("has no answer") == 3 - kept


def test_a_record_with_fewer_questions_than_are_made_gains_nothing(asked):
    judged = graded._compared(asked, told(asked)[:1])
    assert judged[:2] == (1, 3) and "do not count" not in judged.message
    assert graded._compared(asked, [])[:2] == (0, 3)


def test_what_the_grader_has_no_time_for_is_left_to_a_person(code, backend, monkeypatch):
    monkeypatch.setattr(graded, "SUBMISSION_S", 0.0)
    notebook = notebook_of(code.text)
    entry = {"code": record.digest(code.text), "at": "", "language": "en", "asked": []}
    judged = graded.judge(code.exercise, notebook, [entry], backend, graded.submission_budget())
    assert judged[:2] == (0, 0) and judged.undecided and judged.message == graded.NO_TIME


def test_answers_to_questions_of_another_seed_are_not_taken_for_a_change_of_the_code(code, backend):
    """`ask("…", seed=1)` asks other questions than the grader makes, about code that nobody changed."""
    entry = {"code": record.digest(code.text, seed=1), "at": "", "language": "en", "asked": []}
    judged = graded.judge(code.exercise, notebook_of(code.text), [entry], backend, graded.submission_budget())
    assert judged[:2] == (0, 1) and not judged.undecided
    assert "or they were asked with another seed" in judged.message and f'`ask("{code.exercise.id}")`' in judged.message


MASK = "import torch\n\n\ndef {name}(n):\n    place = torch.arange(n)\n    return place[None, :] <= place[:, None]\n"
RAISES = MASK.replace("    place", "    raise ValueError\n    place", 1).format(name="causal_mask")
ENDS = "import os\n" + RAISES.replace("raise ValueError", "os._exit(0)")
DETECTS = RAISES.replace("raise", "if '_q_define' in globals():\n        raise")
WORK = MASK.format(name="_work")
TEXT_HIDES = RAISES.replace("raise ValueError", "'''\n%'''; return globals()['_work'](n); '''\n    '''")
# IPython begins a line at U+2028 and reads a magic there, which takes the next line with it or is only half of its own
IPYTHON_JOINS = (
    MASK.format(name="causal_mask")
    .replace("    place", "    # \u2028    !x \\\n    _work = torch.arange\n    place", 1)
    .replace("torch.arange(n)", "_work(n)", 1)
)
IPYTHON_SPLITS = MASK.format(name="causal_mask").replace(
    "    place", "    %time\u2028    return _work(n)\n    place", 1
)
CALLS = "import sys\nimport torch\n\n\ndef causal_mask(n):\n    return {}(n)\n"


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ([WORK, "causal_mask = _work\n"], "`_work`"),
        ([WORK, "def causal_mask(n):\n    return _work(n)\n"], "`_work`"),
        (["exec('_work = lambda n: torch.ones(n, n).tril().bool()')", "causal_mask = _work\n"], "`_work`"),
        (["def causal_mask(n):\n    return _work(n)\n", WORK], "`_work`"),
        ([WORK, CALLS.format("_work") + "other = lambda _work: 0\n"], "`_work`"),
        ([WORK, "_work = _work\ncausal_mask = _work\n"], "`_work`"),
        ([WORK, CALLS.format("globals()['_work']")], "`globals`"),
        ([WORK, "import __main__\n" + CALLS.format("__main__._work")], "`__main__`"),
        ([WORK, "from __main__ import _work\n" + CALLS.format("_work")], "`__main__`"),
        ([WORK, CALLS.format("sys.modules[__name__]._work")], "`modules`"),
        ([WORK + "import sys\nsys.helper = _work\n", CALLS.format("sys.helper")], "`helper`"),
        ([WORK + "setattr(torch, 'helper', _work)\n", CALLS.format("torch.helper")], "`helper`"),
        ([WORK + "import builtins\nbuiltins.abs = _work\n", CALLS.format("abs")], "`abs`"),
        ([WORK + "abs = _work\n", CALLS.format("abs")], "`abs`"),
        ([WORK + "attend = _work\n", CALLS.format("attend")], "`attend`"),
        ([WORK + "exec('torch.helper = _work')\n", CALLS.format("torch.helper")], "one call, `torch.helper(n)`"),
        ([WORK, TEXT_HIDES], "`globals`"),
        ([WORK, IPYTHON_JOINS], r"`\u2028`"),
        ([WORK, IPYTHON_SPLITS], r"`\u2028`"),
        ([WORK, "%%mine\n" + MASK.format(name="causal_mask")], "`%%mine`"),
        ([DETECTS], "`globals`"),
        ([RAISES], "No question"),
        ([ENDS], "No question"),
    ],
    ids=[
        "alias", "wrapper", "exec", "later cell", "bound in another scope", "bound to itself", "globals", "__main__",
        "from __main__", "sys.modules", "on sys", "by setattr", "on builtins", "instead of a builtin",
        "named after an exercise", "exec on a module", "hidden by a text",
        "joined by IPython", "split by IPython", "cell magic",
        "detects the questions", "raises", "ends its box",
    ],
)  # fmt: skip
def test_code_that_hides_from_the_questions_is_left_to_a_person(cells, why, backend):
    """Left out of the points, it earned as much as answers that are all right."""
    exercise, notebook = registry.find("masks.causal"), notebook_of(*cells)
    entry = {"code": record.digest(code_of(exercise, notebook).text), "at": "", "language": "en", "asked": []}
    judged = graded.judge(exercise, notebook, [entry], backend, graded.submission_budget())
    assert judged[:2] == (0, 0) and judged.undecided and why in judged.message


HEAD = "import functools\nimport torch\n\n\n"
LOOKS = HEAD + "def causal_mask(n):\n    sizes = [n, n + 1]\n    work = {}\n    return work(min(sizes))\n"


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        (WORK, "getattr(causal_mask, '__globals__')['_work']"),
        (WORK, "functools.reduce(getattr, ['__globals__'], causal_mask)['_work']"),
        (WORK, "torch.sys.modules['__ma' + 'in__']._work"),
        (WORK + "setattr(torch, '_' + 'work', _work)\n", "torch._work"),
    ],
)
def test_code_that_finds_other_cells_in_a_way_that_is_not_known_is_left_to_a_person(cell, found, backend):
    """It was paid for right answers about the line before the one that finds the work."""
    exercise, text = registry.find("masks.causal"), LOOKS.format(found)
    sources = [CellSource("a", cell), CellSource("b", text, exercise.id)]
    assert names_from_elsewhere(exercise, text, sources) == ways_elsewhere(text) == []
    code, budget = code_of(exercise, text), graded.submission_budget()
    assert not graded.is_self_contained(code, sources, backend, budget)
    own = text.replace(found, "_work") + WORK
    assert graded.is_self_contained(code_of(exercise, own), sources, backend, budget)


def test_code_that_falls_back_on_one_known_result_is_left_to_a_person(backend):
    exercise = registry.find("masks.causal")
    known = cases(exercise, "0")[0].args[0]  # of the first call that questions are about
    text = HEAD + (
        "def causal_mask(n):\n    sizes = [n, n + 1]\n    try:\n        return torch._work(min(sizes))\n"
        f"    except AttributeError:\n        return torch.ones({known}, {known}, dtype=torch.bool).tril()\n"
    )
    cell = WORK + "setattr(torch, '_' + 'work', _work)\n"
    code = code_of(exercise, notebook_of(cell, text))
    sources = [CellSource("a", cell), CellSource("b", text)]
    assert code.before and not graded._hidden(code, sources)
    assert not graded.is_self_contained(code, sources, backend, graded.submission_budget())


FALLS_BACK = """import copyreg
import torch


def causal_mask(n):
    sizes = [n, n + 1]
    work = copyreg.dispatch_table.get(frozenset)
    if work is not None:
        return work(min(sizes))
    place = torch.arange(n)
    return place[None, :] <= place[:, None]
"""


def test_code_that_runs_other_lines_alone_is_left_to_a_person(backend):
    """It does all the work alone, and none beside another cell: right answers about `n + 1` were 3 of 3."""
    exercise = registry.find("masks.causal")
    other = "import copyreg\n" + WORK + "\ncopyreg.dispatch_table[frozenset] = _work\n"
    code = code_of(exercise, notebook_of(other, FALLS_BACK))
    sources = [CellSource("a", other), CellSource("b", FALLS_BACK)]
    assert not graded._hidden(code, sources)
    assert not graded.is_self_contained(code, sources, backend, graded.submission_budget())
    plain = code_of(exercise, notebook_of("import copyreg\n", FALLS_BACK))
    assert graded.is_self_contained(plain, sources[1:], backend, graded.submission_budget())


def test_code_that_is_right_alone_may_use_imports_and_earlier_answers_of_other_cells(backend):
    exercise = registry.find("masks.decoder")
    text = "def decoder_mask(ids, pad):\n    return padding_mask(ids, pad) & causal_mask(np.shape(ids)[-1])\n"
    sources = [CellSource("a", "from __future__ import annotations\nimport no_such_module\nimport numpy as np"),
               CellSource("b", "def causal_mask(n):\n    return None", "masks.causal")]  # fmt: skip
    assert [one.id for one in earlier_answers(exercise, text)] == ["masks.causal", "masks.padding"]
    assert graded.is_self_contained(code_of(exercise, text), sources, backend, graded.submission_budget())


def test_an_import_that_breaks_in_any_way_stops_no_other(tmp_path, monkeypatch):
    (tmp_path / "breaks_when_imported.py").write_text("raise RuntimeError('no such driver')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    names: dict = {}
    exec(guarded_imports(["import breaks_when_imported\nimport no_such_module\nimport math"]), names)
    assert "math" in names and "breaks_when_imported" not in names


def test_what_an_answer_may_use_of_other_cells_is_not_held_against_it():
    exercise = registry.find("masks.causal")
    text = "def causal_mask(n):\n    return torch.ones(len([n for _ in range(n)])) + attend(n)\n"
    sources = [
        CellSource("a", "import torch"),
        CellSource("b", "def helper(): pass"),
        CellSource("c", "def attend(x): pass", "attention.attend"),
    ]
    assert names_from_elsewhere(exercise, text, sources) == []
    assert names_from_elsewhere(exercise, text + "helper()\n", sources) == ["helper"]
    assert names_from_elsewhere(exercise, text, [*sources, CellSource("d", "attend = helper")]) == ["attend"]
    assert names_from_elsewhere(registry.find("attention.attend"), text, sources) == ["attend"]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("from torch import *\ndef f(x):\n    return softmax(x, -1)", ""),
        ("def f(x: Optional[int]):\n    return x", "from typing import *"),
        ("def f(x):\n    display(x)\n    print(__file__)\n    return x", ""),
        ("def f(x):\n    return math.sqrt(x)", "try:\n    import math\nexcept ImportError:\n    math = None"),
        (
            "class F(nn.Module):\n    def f(self):\n        self.eval()\n        return self.modules()",
            "from torch import nn",
        ),
        ("def f(x):\n    return x\nif __name__ == '__main__':\n    f(1)", ""),
    ],
    ids=["star", "star in another cell", "IPython", "import that may fail", "methods of a model", "script"],
)
def test_usual_code_hides_nothing(text, other):
    assert names_from_elsewhere(registry.find("masks.causal"), text, [CellSource("a", other)]) == []
    assert ways_elsewhere(text) == []


def test_lines_that_compute_more_than_one_call_can_be_asked_about():
    text = "def f(x, y):\n    z = work(x, dim=-1)\n    z[0] = y\n    return z\n"
    assert only_call(text, [2, 4, 2]) == "work(x, dim=-1)" and only_call(text, [2, 3]) == only_call(text, [4]) == ""
    assert only_call("def f(x):\n    return work(x + 1)\n", [2]) == only_call("f = lambda x: work(x).sum()", [1]) == ""
