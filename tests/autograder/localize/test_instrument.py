"""A rewritten source computes what it did before, and each number in it stands for a place in the source."""

import pytest
import torch

from autograder.checks import Case
from autograder.checks.compare import compare
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Probe
from autograder.corpus.judge import ask_reference
from autograder.exercises import injected_modules, registry
from autograder.exercises.answers import answers
from autograder.localize.instrument import MOST_NODES, instrument
from autograder.localize.trace import trace_answer

EVERY_KIND = '''
import torch

def helper(values, *, scale=2.0, **rest):
    """Keeps its docstring."""
    total: float = 0.0
    for place, value in enumerate(values):
        if value > 1 and place != 7 or not value:
            continue
        total += value * scale
    else:
        total -= 0.0
    return total

class Counter:
    start = 3
    def __init__(self, by: int = 1):
        super().__init__()
        self.by, self.seen = by, {}
    def count(self, things):
        for thing in things:
            self.seen[thing] = self.seen.get(thing, self.start) + self.by
        return self.seen

def everything(x, words):
    """All of it."""
    counts = Counter(by=2).count(words)
    table = [[i * j for j in range(3) if j != i] for i in range(3)]
    table[0][1] = -1
    first, *others = sorted(words, key=lambda word: (-len(word), word))
    total = sum(len(word) for word in others)
    while total > 2:
        total -= 1
    try:
        words[100]
    except IndexError as problem:
        said = f"{type(problem).__name__} {total:>3}"
    finally:
        done = True
    with torch.no_grad():
        y = x[:, None, ..., ::2].clone()
        y[..., 0] += 1
    match total:
        case 1 | 2:
            name = "few"
        case _:
            name = "many"
    def gen():
        yield from (one for one in words)
    if (n := len(list(gen()))) > 2:
        name += str(n)
    nested = {**counts, "more": {1, 2} | {3}}
    more = nested["more"] == {1, 2, 3}
    return {"y": y, "helper": helper([1, 0, 0.5], scale=3.0), "all": [first, table, said, done, name, more]}
'''


def asked(symbol, *args):
    case = Case(symbol, args)
    return Probe(case.value, case)


def test_it_computes_the_same():
    plain, question = {}, asked("everything", torch.arange(12.0).reshape(3, 4), ["ab", "c", "def", "c"])
    exec(EVERY_KIND, plain)
    trace, answer = trace_answer(LocalSubject({}), instrument([("cell", EVERY_KIND)], whole=True), question)
    assert compare(question.ask(LocalSubject(plain)), answer) is None
    assert trace.error is None and len(trace.events) > 100


@pytest.mark.parametrize("exercise", registry.exercises()[::7], ids=lambda exercise: exercise.id)
def test_right_answers_stay_right(exercise):
    check, pairs = next(
        (check, pairs) for check, pairs in ask_reference(exercise, 4) if pairs and check.property == "values"
    )
    for path in answers(exercise, "right"):
        table = instrument([("cell", path.read_text(encoding="utf-8"))], whole=True)
        _, answer = trace_answer(LocalSubject({"__name__": "answer"}), table, pairs[0][0])
        assert compare(pairs[0][1], answer, pairs[0][0].tolerance) is None, path


def test_lines_are_those_of_the_source():
    source = "def f(x):\n    y = x + 1\n\n    return (y *\n            2)\n"
    trace, answer = trace_answer(LocalSubject({}), instrument([("cell", source)]), asked("f", torch.ones(2)))
    lines = {trace.node(at).operation: trace.node(at).line for at in range(len(trace.events))}
    assert lines["Add"] == 2 and lines["Mult"] == 4 and answer.tolist() == [4.0, 4.0]


def test_an_error_has_the_line_of_its_innermost_statement():
    source = "def f(x):\n    return g(x)\n\ndef g(x):\n    y = x * 2\n    return y @ torch.ones(9)\n"
    trace, _ = trace_answer(LocalSubject({"torch": torch}), instrument([("cell", source)]), asked("f", torch.ones(2)))
    assert trace.table.nodes[trace.error].line == 6


def test_cells_that_do_not_parse_and_what_is_replaced_are_left_out():
    table = instrument(
        [("a", "%timeit 1"), ("b", "def f(x):\n    return x"), ("c", "y = 1\ndef g(x):\n    return x")], ["f"]
    )
    assert "def g" in table.source and "def f" not in table.source and "y = 1" not in table.source
    assert {node.cell for node in table.nodes} == {"c"}


def test_a_source_without_end_is_refused():
    with pytest.raises(ValueError, match="too long"):
        instrument([("a", "def f():\n    x = [" + "a," * MOST_NODES + "]")])


def test_the_reference_is_a_right_answer_too():
    source, _ = injected_modules.source([registry.find("attention.multi_head")])
    assert "class MultiHeadAttention" in instrument([("cell", source)], whole=True).source
