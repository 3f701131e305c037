"""The cards of every unit: each key is what running gives, and the files are up to date."""

import ast
import json
import re
from functools import cache

import pytest

from autograder.checks.probe import questions
from autograder.checks.reference import reference_of
from autograder.exercises import registry
from autograder.hunts.make import hunts
from autograder.ordering.prove import passes
from course import all_exercises, cards, units
from course.notebook import source_notebook
from course.settings import LessonError
from tfkit_lab.recall.cards import FILE, ORDER, Card, read_cards

UNITS = {folder.name: folder for folder in units()}
KEPT = {card.id: card for name, folder in UNITS.items() for card in read_cards(name, folder)}
OF_EXERCISES = sorted(name for name, card in KEPT.items() if card.title)


@cache
def asked(exercise):
    found = registry.find(exercise)
    return list(questions(registry.check_function(found)(), reference_of(found), "another seed"))


def right(exercise, code):
    return passes(code, asked(exercise))


@pytest.mark.parametrize("unit", UNITS)
def test_the_keys_of_written_cards_are_what_their_code_gives(unit):
    folder = UNITS[unit]
    lesson = cards._Lesson(folder)
    made = [Card(unit=unit, lesson=lesson.title, **one) for one in cards._written(folder, lesson)]
    assert made == [card for card in read_cards(unit, folder) if not card.title], f"run `python -m course.cards {unit}`"


def program(exercise, *lines):
    """The lines below the imports of the exercise's right answers, which a card does not show."""
    whole = {line for hunt in hunts(registry.find(exercise)) for line in hunt.repair.splitlines()}
    return "\n".join([*sorted(line for line in whole if line.startswith(("import ", "from "))), *lines])


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", OF_EXERCISES)
def test_the_keys_of_cards_on_exercises_are_what_the_checks_say(name):
    """Made again. By inputs of another seed: an order of the key passes, and so does the right line in the place of the
    dots, but none of the other lines; the program with a changed line fails, and with the answer's own line passes."""
    card, (exercise, _, kind) = KEPT[name], name.partition("/")
    made = getattr(cards, kind)(registry.find(exercise))
    assert made["question"] == card.question and made["key"] == card.key, f"run `python -m course.cards {card.unit}`"
    {"order": check_orders, "pick": check_lines, "fault": check_change}[kind](exercise, card)


def check_orders(exercise, card):
    lines = card.question["lines"]
    assert all(
        right(exercise, program(exercise, card.before, *(lines[n] for n in order), card.after)) for order in card.key
    )
    assert list(range(len(lines))) not in card.key


def check_lines(exercise, card):
    passing = [
        line for line in card.question["options"] if right(exercise, program(exercise, card.code.replace("…", line)))
    ]
    assert passing == card.key


def check_change(exercise, card):
    shown, (key,) = card.question["options"], card.key
    changed = [option.partition(": ")[2] for option in shown]
    (hunt,) = (one for one in cards._single_lines(registry.find(exercise))
               if [text for _, text in cards._rows(one.code)] == changed)  # fmt: skip
    repaired = [text for _, text in cards._rows(hunt.repair)]
    assert [n for n, pair in enumerate(zip(changed, repaired, strict=True)) if pair[0] != pair[1]] == [shown.index(key)]
    assert not right(exercise, program(exercise, *changed)) and right(exercise, program(exercise, *repaired))


def test_no_option_gives_itself_away_by_code_that_does_nothing():
    odd = re.compile(r"[+] 0( [*]|$)")
    assert not [card.id for card in KEPT.values() if odd.search("\n".join(card.question.get("options", [])))]


def test_what_is_chosen_or_left_out_by_hand_exists():
    exercises = {exercise.id: exercise for exercise in all_exercises()}
    faults = {f"{name}/{mistake}" for name, mistake in cards.FAULTS.items()}
    known = {hunt.id for name in {one.partition("/")[0] for one in faults | cards.NOT_OFFERED}
             for hunt in cards._single_lines(exercises[name])}  # fmt: skip
    assert faults | cards.NOT_OFFERED <= known
    made = {name: getattr(cards, name.partition("/")[2])(exercises[name.partition("/")[0]]) for name in cards.LEFT_OUT}
    assert all(made.values()) and not cards.LEFT_OUT & KEPT.keys()


def test_a_card_of_each_kind_exists_and_each_leads_to_a_heading_of_its_lesson():
    kinds = {
        "fault" if card.is_fault else "pick" if card.has_lines else card.question["kind"] for card in KEPT.values()
    }
    assert kinds >= {"fault", "pick", ORDER, "number", "shape", "choice", "mask"}
    for unit, folder in UNITS.items():
        texts = {cell.id: cell.source for cell in source_notebook(folder).cells}
        assert all(card.section in texts[card.cell] for card in read_cards(unit, folder)), unit


def test_every_unit_before_the_last_has_cards_to_ask():
    counts = {exercise.unit: len(read_cards(exercise.unit, exercise.folder)) for exercise in all_exercises()}
    assert min(counts.values()) >= 3, counts


def test_options_of_code_are_lines_that_belong_together():
    programs = [card.question["options"] for card in KEPT.values() if card.is_fault]
    assert programs
    for options in programs:
        tree = ast.parse("\n".join(option.partition(": ")[2] for option in options))
        assert any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in tree.body), options


WHOLE = {"kind": "number", "section": "2 · How", "question": "How many?", "key": "4 * 2", "why": "Twice four."}


def written(tmp_path, entry):
    lesson = cards._Lesson.__new__(cards._Lesson)
    lesson.unit, lesson._headings, lesson._exercises = "09-x", {"2 · How": "text-2"}, {}
    folder = tmp_path / "09-x"
    folder.mkdir()
    lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in entry.items())
    (folder / cards.WRITTEN).write_text(f'setup = "import math"\n[many]\n{lines}\n')
    return list(cards._written(folder, lesson))


def test_a_written_card_has_the_key_that_runs(tmp_path):
    (made,) = written(tmp_path, WHOLE | {"code": "width = 4", "key": "width * 2 + math.floor(0.5)"})
    assert made["id"] == "09.many" and made["key"] == 8 and made["cell"] == "text-2" and made["code"] == "width = 4"


CHANGES = [
    ({"key": "width"}, "has no key: NameError"),
    ({"kind": "shape"}, "has no key: ValueError"),
    ({"kind": "essay"}, "is no question"),
    ({"options": ["a"]}, "is no question"),
    ({"section": "3"}, "no heading '3'"),
    ({"why": None}, "needs why"),
]


@pytest.mark.parametrize("change, message", CHANGES)
def test_a_card_that_cannot_be_asked_is_named(tmp_path, change, message):
    entry = {name: value for name, value in (WHOLE | change).items() if value is not None}
    with pytest.raises(LessonError, match=rf"^09-x/cards.toml, many.*{message}"):
        written(tmp_path, entry)


def test_the_file_is_what_the_command_writes(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(cards, "units", lambda: [UNITS["02-masks"]])
    assert cards.main(["02-masks"]) == 0
    assert capsys.readouterr().out.startswith("unchanged") and (UNITS["02-masks"] / FILE).is_file()
    with pytest.raises(SystemExit):
        cards.main(["77-none"])
    assert "no unit is called '77-none'" in capsys.readouterr().err
