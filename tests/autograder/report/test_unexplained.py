"""`autograder misconceptions`: what a class answers that nothing explains is one group, and is named once it has a
sentence: in nbgrader's grading, in a check, and in the corpus."""

from __future__ import annotations

import io
import json
import tomllib
from dataclasses import replace
from types import SimpleNamespace

import nbformat
import pytest
from rich.console import Console

from autograder.api import Exercise
from autograder.checks.local import LocalSubject
from autograder.checks.reference import reference_of
from autograder.cli import main
from autograder.cluster import bundle
from autograder.diagnosis import misconceptions
from autograder.exercises import registry
from autograder.nbgrader import config
from autograder.report import unexplained_page

from ..nbgrader.conftest import UNIT, Course, find, source_notebook
from .test_class_report import Found

SOFTMAX = registry.find("masks.softmax")
SENTENCE = "The tangent squeezes the scores: give them to the softmax as they are."
SQUEEZED = """
def masked_softmax(scores, mask):
    return torch.tanh(scores).masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0.0)
"""
AGAIN = """
def masked_softmax(scores, mask):
    # <b>mine</b>
    powers = torch.exp(torch.tanh(scores)) * mask
    return powers / powers.sum(-1, keepdim=True).clamp(min=1e-9)
"""
OTHER = """
def masked_softmax(scores, mask):
    return (scores.cos() * 3 + scores).masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0.0)
"""
CLASS = {"ada": SQUEEZED, "ben": AGAIN, "cem": OTHER}


def command(*arguments) -> int:
    with pytest.raises(SystemExit) as end:
        main(["misconceptions", *map(str, arguments)])
    return end.value.code


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class of three, graded by nbgrader's own command with the real engine."""
    course = Course(tmp_path_factory.mktemp("course"))
    config.install(course.root)
    nb = source_notebook()
    nb.cells = [cell for cell in nb.cells if cell.cell_type == "code" and not cell.id.endswith(("causal", "padding"))]
    source = course.root / "source" / UNIT / f"{UNIT}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_text(json.dumps(nb), encoding="utf-8")
    course.nbgrader("generate_assignment", UNIT)
    for student, answer in CLASS.items():
        nb = nbformat.read(course.root / "release" / UNIT / f"{UNIT}.ipynb", as_version=4)
        find(nb, "solution-masks-softmax").source = answer
        course.hand_in(student, nb)
    course.nbgrader("autograde", UNIT)
    return course


def verdict(course, student):
    return find(course.graded(student), "check-masks-softmax").metadata.tfkit.verdict


@pytest.mark.slow
def test_a_sentence_names_the_behaviour_from_then_on(graded, tmp_path, capsys):
    assert verdict(graded, "ada").misconception is None
    page = tmp_path / "groups.html"
    assert command(graded.root, UNIT, "--kinds", "-o", page) == 0
    text, found = page.read_text(encoding="utf-8"), Found()
    found.feed(text)
    assert not found.open and "2 students: ada, ben" in text and "1 student: cem" in text
    assert "# &lt;b&gt;mine&lt;/b&gt;" in text and "The smallest example found" in text
    capsys.readouterr()
    assert command(graded.root, "--kinds") == 0
    shown = capsys.readouterr().out
    group = next(word for word in shown.split() if word.startswith("masks.softmax/"))
    assert "torch.tanh" in shown and "2 students: ada, ben" in shown

    assert command(graded.root, UNIT, "--name", group, SENTENCE, "--called", "squeezed") == 0
    released = misconceptions.read(graded.root / "source" / UNIT / misconceptions.FILE)
    assert "code" not in released["masks.softmax"][0] and "tanh" not in str(released)
    graded.nbgrader("autograde", UNIT, "--force")
    assert [verdict(graded, student).misconception for student in CLASS] == ["squeezed", "squeezed", None]
    assert verdict(graded, "ben").hint == SENTENCE
    capsys.readouterr()
    assert command(graded.root, UNIT, "--kinds") == 0
    left = capsys.readouterr().out
    assert group not in left and "1 student: cem" in left

    assert command(graded.root, UNIT, "--export", "masks.softmax/squeezed") == 0
    (table,) = tomllib.loads(capsys.readouterr().out).values()
    assert table["sentence"] == SENTENCE and "tanh" in table["change"]
    file = tmp_path / "ben.py"
    file.write_text("import torch\n" + AGAIN)
    with pytest.raises(SystemExit):
        main(["check", "masks.softmax", str(file), "--json", "--known", str(graded.root / "source" / UNIT)])
    assert json.loads(capsys.readouterr().out)["misconception"] == "squeezed"


@pytest.mark.slow
def test_the_command_says_what_is_recognised_no_longer_and_lets_it_be_named_again(graded, capsys):
    file = graded.root / misconceptions.FILE
    told = [{**one, "asked": "of another version"} for one in described(SOFTMAX, SQUEEZED)]
    entry = {"name": "flattened", "sentence": SENTENCE, "seed": 0, "answers": told}
    before = misconceptions.read(file).get("masks.softmax", [])
    misconceptions.write(file, {"masks.softmax": [*before, entry]})
    assert command(graded.root, UNIT, "--kinds") == 0
    shown = capsys.readouterr()
    assert "masks.softmax/flattened is no longer recognised" in shown.err
    group = next(word for word in shown.out.split() if word.startswith("masks.softmax/"))
    assert command(graded.root, UNIT, "--name", group, "Another sentence.", "--called", "flattened") == 0
    again = [one for one in misconceptions.read(file)["masks.softmax"] if one["name"] == "flattened"]
    assert [one["sentence"] for one in again] == ["Another sentence."]
    assert misconceptions.find_outdated(SOFTMAX, again) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--name", "masks.softmax/none", "Words."), "no group is called masks.softmax/none"),
        (("--export", "masks.softmax/none"), "has no masks.softmax/none with its code"),
        (("--export", "none"), "no exercise is called"),
    ],
)
def test_what_is_not_there_is_said_in_a_line(graded, arguments, words, capsys):
    assert command(graded.root, UNIT, *arguments) == 2
    said = capsys.readouterr().err
    assert words in said.splitlines()[-1]


def subject(source):
    namespace = {}
    exec("import torch\n" + source, namespace)
    return LocalSubject(namespace)


def described(exercise: Exercise, source: str):
    from autograder.checks.probe import collect_answers
    from autograder.corpus.judge import ask_reference

    return misconceptions.describe_findings(
        collect_answers(ask_reference(exercise, misconceptions.SEED), subject(source))
    )


def test_a_file_is_read_as_it_was_written_and_names_who_behaves_so(tmp_path):
    one = {"name": "squeezed", "sentence": 'Say "so".', "seed": 0, "answers": described(SOFTMAX, SQUEEZED)}
    file = tmp_path / misconceptions.FILE
    misconceptions.write(file, {"masks.softmax": [{**one, "code": "x = '''\\n'''"}]})
    entries = misconceptions.read(file)["masks.softmax"]
    assert entries == [{**one, "code": "x = '''\\n'''"}]
    assert misconceptions.recognise(SOFTMAX, entries, subject(AGAIN)) == entries[0]
    assert misconceptions.recognise(SOFTMAX, entries, subject(OTHER)) is None
    assert misconceptions.recognise(SOFTMAX, entries, reference_of(SOFTMAX)) is None
    assert bundle.hash_of_checks({}, {"misconceptions": {"masks.softmax": [one]}}) == bundle.hash_of_checks({})


def replaced(monkeypatch, change):
    """The checks of masks.softmax, each changed, as by a later version of the course."""
    checks = [change(check) for check in registry.check_function(SOFTMAX)()]
    monkeypatch.setattr(registry, "check_function", lambda _: lambda: checks)


def test_a_behaviour_is_recognised_when_a_check_has_got_another_name(monkeypatch):
    entry = {"name": "squeezed", "sentence": "So.", "seed": 0, "answers": described(SOFTMAX, SQUEEZED)}
    replaced(monkeypatch, lambda check: replace(check, name=f"{check.name}, as it is called now"))
    assert misconceptions.find_outdated(SOFTMAX, [entry]) == []
    assert misconceptions.recognise(SOFTMAX, [entry], subject(AGAIN)) == entry
    assert misconceptions.recognise(SOFTMAX, [entry], subject(OTHER)) is None


@pytest.mark.parametrize("asked", [True, False])
def test_a_behaviour_whose_questions_are_asked_no_longer_is_said_to_be_outdated(monkeypatch, asked):
    told = [one if asked else {**one, "asked": None} for one in described(SOFTMAX, SQUEEZED)]
    told = [{key: value for key, value in one.items() if value is not None} for one in told]
    entry = {"name": "squeezed", "sentence": "So.", "seed": 0, "answers": told}
    assert misconceptions.find_outdated(SOFTMAX, [entry]) == []

    def others(check):
        def probes(draw, reference):
            draw.normal(3)  # so that all that follows is different
            return check.probes(draw, reference)

        return replace(check, probes=probes) if asked else replace(check, name=f"{check.name}, by another name")

    replaced(monkeypatch, others)
    assert misconceptions.find_outdated(SOFTMAX, [entry]) == [entry]
    assert misconceptions.recognise(SOFTMAX, [entry], subject(AGAIN)) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("softmax = 1", "stands outside any table"),
        ("[a.b]\nseed = 0", "sentence must be a text"),
        ('[a.b]\nsentence = "So."\nseed = 0\nanswers = "[1]"', "answers were changed"),
        ("[", "cannot be read"),
    ],
)
def test_a_damaged_file_is_said_in_a_line(tmp_path, text, words):
    (tmp_path / misconceptions.FILE).write_text(text)
    with pytest.raises(misconceptions.BadMisconceptions, match=words):
        misconceptions.read(tmp_path / misconceptions.FILE)
    kept = misconceptions.setting(tmp_path / misconceptions.FILE)
    with pytest.raises(misconceptions.BadMisconceptions, match=words):
        misconceptions.check_entries(kept)


def test_no_name_of_a_folder_is_markup_on_the_terminal(monkeypatch):
    monkeypatch.setattr(unexplained_page, "verdict_text", lambda data: "card")
    verdict = SimpleNamespace(as_json=dict)
    one = SimpleNamespace(student="x[/b]\x1b[2J", code="y = 1", verdict=verdict)
    console = Console(file=io.StringIO(), width=80)
    console.print(unexplained_page.terminal(SimpleNamespace(id="masks.softmax/3f2a", members=[one])))
    said = console.file.getvalue()
    assert said.count(r"x[/b]\x1b[2J") == 2 and "\x1b" not in said
