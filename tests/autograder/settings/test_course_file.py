"""course.toml has one owner: what is unknown or of the wrong type is refused by every command that reads the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder import cli
from autograder.api import HINTS, PROPERTIES
from autograder.assistants.rules import BadRules, read_rules
from autograder.nbgrader import config
from autograder.settings import course_file, points
from autograder.settings.capstone import BadTerms, Terms
from autograder.settings.capstone import read as read_terms
from autograder.settings.course_file import (
    ASSISTANTS,
    CAPSTONE,
    GRADING,
    TABLES,
    TOP,
    TRACKS,
    UNIT,
    WEIGHTS,
    CourseFileError,
)
from course import build, settings
from tfkit_course.formats import COURSE_FILE

FULL = """
title = "Transformers in five weeks"
format = 1
language = "fr"
track = "mine"
recall = false
sure = true
variants = "2026, group B"
variants_for = "student"

[[tracks]]
name = "mine"
title = "Mine"
about = "masks, and a model"
units = ["02-masks", "17-capstone"]

[[unit]]
name = "02-masks"
title = "Masks and more"
minutes = 45.5
due = 2026-10-12T18:00:00+02:00
exercises = ["masks.causal", "masks.softmax"]
points = {"masks.softmax" = 4, "masks.causal" = 0}
predictions = 1
questions = 2
needs = ["01-recurrence-to-attention"]

[[unit]]
name = "17-capstone"

[weights]
values = 1
shapes = 0
gradients = 2
dtypes = 0.5
edges = 0.5
cost = 0
purity = 3

[grading]
credit = "checks"
ordered = 0.5
again = 0.1

[capstone]
seconds = 30
letters = 4e5
bands = [[0.2, 10], [1, 5]]
windows = 12
length = 40
memory_mb = 2048

[assistants]
hints = 0

[repository]
url = "https://github.com/ada/transformers"
branch = "main"
"""
WRONG = [
    (
        "[asistants]\nhints = 0",
        "has [asistants], which is not one of title, language, track, recall, sure, variants, variants_for, format, "
        "[[unit]], [[tracks]], [weights]",
    ),
    ("[asistants]\nhints = 0", "; did you mean [assistants]?"),
    ("[weigths]\ngradients = 2", "; did you mean [weights]?"),
    ("[Weights]\ngradients = 2", "has [Weights], which is not one of"),
    ("[[units]]\nname = '02-masks'", "has [[units]], which is not one of"),
    ("[[units]]\nname = '02-masks'", "; did you mean [[unit]]?"),
    ("titel = 'Transformers'", "has 'titel', which is not one of title, language"),
    ("titel = 'Transformers'", "; did you mean title?"),
    ("hints = 0", "has 'hints', which is not one of"),
    ("hints = 0", "; it belongs below [assistants]"),
    ("[weights]\nlanguage = 'fr'", "; it belongs at the top, before all tables"),
    ('[grading]\ncredit = "half"', '[grading]: credit = \'half\' must be "distance" or "checks"'),
    ("[weights]\nshape = 1", "[weights] has 'shape', which is not one of values, shapes"),
    ("[weights]\nshape = 1", "; did you mean shapes?"),
    ("[assistants]\nhint = 1", "[assistants] has 'hint', which is not one of hints; did you mean hints?"),
    ("[capstone]\nsecond = 1", "[capstone] has 'second', which is not one of seconds, letters"),
    (
        "[[unit]]\nname = '02-masks'\npredicitons = 1",
        "unit 02-masks has 'predicitons', which is not one of name",
    ),
    ("title = 3", "title = 3 must be text"),
    ("language = ''", "language = '' must be a gettext language code"),
    ("[unit]\nname = '02-masks'", 'unit must be several tables: write [[unit]] and name = "02-masks" below it'),
    ("[[unit]]\ntitle = 'Masks'", 'unit 1 has no name: write name = "02-masks"'),
    ("[[unit]]\nname = '02-masks'\ntitle = 2", "unit 02-masks: title = 2 must be text"),
    ("[[unit]]\nname = '02-masks'\nminutes = '60'", "unit 02-masks: minutes = '60' must be a number above 0"),
    ("[[unit]]\nname = '02-masks'\ndue = 2026-10-12", "unit 02-masks: due = 2026-10-12 must be date, time and offset"),
    ("[[unit]]\nname = '02-masks'\nexercises = 'masks.causal'", "exercises = 'masks.causal' must be a list of ids"),
    ("[[unit]]\nname = '02-masks'\npoints = {'masks.causal' = true}", "must be numbers by exercise"),
    ("[[unit]]\nname = '02-masks'\npredictions = nan", "predictions = nan must be a number of points"),
    ("weights = 3", "[weights] must be a table: write [weights] and gradients = 2 below it"),
    ("[weights]\ncost = 'much'", "[weights]: cost = 'much' must be a number, 0 or more"),
    ("[weights]\nvalues = 0", "[weights]: values = 0 must be a number above 0, or right answers would earn nothing"),
    ("[capstone]\nseconds = true", "[capstone]: seconds = True must be a number above 0"),
    ("[capstone]\nletters = 0.5", "[capstone]: letters = 0.5 must be a whole number above 0"),
    ("[capstone]\nbands = [[1.0, 5], [0.5, 2]]", "in which fewer bits never earn fewer points"),
    ("[capstone]\nbands = []", "[capstone]: bands = [] must be pairs"),
    ("[assistants]\nhints = 4", f"[assistants]: hints = 4 must be a whole number from 0 to {HINTS}"),
    ("assistants = 1", "[assistants] must be a table"),
    ("[assistants", "is not TOML"),
]


def write(folder: Path, text: str) -> Path:
    path = folder / course_file.FILE
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_unknown_or_of_the_wrong_type_is_refused_in_a_line(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(CourseFileError) as error:
        course_file.read(path)
    assert str(error.value).startswith(str(path)) and message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["[asistants]\nhints = 0", "[weights]\nshape = 2", "[capstone]\nseconds = '2'"])
def test_every_reader_refuses_the_file_whichever_table_is_wrong(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, f'[[unit]]\nname = "02-masks"\n{text}\n')
    with pytest.raises(CourseFileError) as error:
        course_file.read(path)
    for kind, call in (
        (points.BadWeights, lambda: points.read(path)),
        (BadRules, lambda: read_rules(tmp_path)),
        (BadTerms, lambda: read_terms(tmp_path)),
        (settings.LessonError, lambda: settings.read(tmp_path)),
        (settings.LessonError, lambda: settings.language_of(tmp_path)),
    ):
        with pytest.raises(kind) as refused:
            call()
        assert str(refused.value) == str(error.value)


def test_a_file_of_a_later_release_is_refused_before_its_names_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text("format = 2\n[a-new-table]\nx = 1\n", encoding="utf-8")
    with pytest.raises(CourseFileError, match=r"course\.toml has format 2, .* reads 1: install a later release"):
        course_file.read(tmp_path / "course.toml")


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / course_file.FILE).mkdir()
    with pytest.raises(CourseFileError, match=r"course\.toml cannot be read: Is a directory"):
        course_file.read(tmp_path / course_file.FILE)


def test_a_full_file_is_read_by_all(tmp_path: Path) -> None:
    path = write(tmp_path, FULL)
    contents = course_file.read(path)
    assert set(contents) == {*TOP.names, *(table.name for table in TABLES)}  # the example leaves nothing out
    for table in (WEIGHTS, GRADING, CAPSTONE, ASSISTANTS):
        assert set(contents[table.name]) == set(table.names)
    assert set(contents["unit"][0]) == set(UNIT.names) and set(contents["tracks"][0]) == set(TRACKS.names)
    masks, capstone = settings.read(tmp_path)
    assert (masks.title, masks.minutes, masks.predictions, masks.questions) == ("Masks and more", 45.5, 1, 2)
    assert (masks.variants, masks.own_variants) == ("", contents["variants"]) == ("", points.read_contracts(path))
    assert masks.exercises == ("masks.causal", "masks.softmax")
    assert capstone.name == "17-capstone" and settings.language_of(tmp_path) == "fr"
    assert points.credit_setting(path) == "checks" and masks.ordered == points.ordered_setting(path) == 0.5
    assert points.read(path)["purity"] == 3.0 and len(points.read(path)) == len(PROPERTIES)
    terms = read_terms(tmp_path)
    assert terms == Terms(
        seconds=30, letters=400_000, bands=((1.0, 5.0), (0.2, 10.0)), windows=12, length=40, memory_mb=2048
    )
    assert isinstance(terms.letters, int) and read_rules(tmp_path).hints == 0


def test_without_a_file_there_is_nothing_to_read(tmp_path: Path) -> None:
    assert course_file.read(tmp_path / course_file.FILE) == {}


def test_every_default_is_what_the_readers_use(tmp_path: Path) -> None:
    assert vars(Terms()) == vars(read_terms(tmp_path)) == CAPSTONE.defaults
    assert {"hints": read_rules(tmp_path).hints} == ASSISTANTS.defaults
    unit = settings.Unit(name="")
    assert {"predictions": unit.predictions, "questions": unit.questions} == UNIT.defaults
    assert TOP.defaults == {"language": build.ENGLISH, "recall": True, "sure": False, "variants_for": "group",
                            "format": COURSE_FILE.version}  # fmt: skip
    parts = [(name, 1.0 + number) for number, name in enumerate(PROPERTIES)]
    assert list(WEIGHTS.defaults) == list(PROPERTIES)
    assert points.shares(parts, 4.0, WEIGHTS.defaults) == points.shares(parts, 4.0)


def test_every_default_and_example_is_valid(tmp_path: Path) -> None:
    for table in (TOP, *TABLES):
        course_file.read(write(tmp_path, f"{table.label if table.name else ''}\n{table.example}\n"))
        for key in table.keys:
            assert bool(key.unset) != (key.name in table.defaults), f"{table.name} {key.name}: a default or words"
            assert key.name not in table.defaults or key.type.accepts(key.default)


def test_a_default_that_is_given_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path, "[capstone]\nbands = [[0.6, 3], [0.25, 6], [0.12, 8], [0.08, 10]]\n[assistants]\nhints = 3\n")
    assert read_terms(tmp_path) == Terms() and read_rules(tmp_path).hints == HINTS


@pytest.mark.parametrize("command", [["mcp"], ["capstone", "check", "answer.py", "--course"], ["grade"]])
def test_a_command_that_needs_the_file_stops_with_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    config.install(tmp_path)
    write(tmp_path, "[asistants]\nhints = 0\n")
    with pytest.raises(SystemExit) as end:
        cli.main([*command, str(tmp_path), *(["02-masks"] if command == ["grade"] else [])])
    assert end.value.code == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1 and message.endswith("; did you mean [assistants]?\n")
