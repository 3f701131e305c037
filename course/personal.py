"""Writes each student's own notebooks, where course.toml draws contracts for each: `python -m course.personal DIR`.

`variants_for = "student"` asks every student for the exercises in forms of their own. What is built and released for
the class names none of them; the grader takes its cells, and the contracts from the name of who hands in. Students
write in the notebooks that this command makes, `DIR/personal/<student>/<unit>/<unit>.ipynb`, which you give to them.
They have no badges: those would open everybody's notebook.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autograder.console import error_messages
from course import units as unit_folders
from course.notebook import source_notebook
from course.release import generate_for
from course.settings import LessonError, Unit, language_of, read
from course.translate import in_language
from tfkit_course import replace_unencodable
from tfkit_course.command_line import make_parser

SETTING = "c.BoxedExecute.contracts"
NO_DRAW = (
    '{course} draws no contracts for each student: write variants = "2026" and variants_for = "student" at its top'
)
NO_LINE = (
    "{root}/nbgrader_config.py is older than this setting, and would grade everybody by the course's own contracts: "
    "copy the line {setting} = … from the shipped autograder/nbgrader/nbgrader_config.py"
)
NOBODY = (
    "the gradebook has no students: import them with `nbgrader db student import students.csv`, or name some with "
    "--student"
)


def write(course_dir: Path, units: Sequence[str] = (), students: Sequence[str] = ()) -> list[Path]:
    """Write the notebooks of these units, by default of all, for these students, by default for all of the gradebook.

    Raises LessonError for a course without such contracts, an unknown unit, or nobody to write for.
    """
    root, folders = course_dir.resolve(), {folder.name: folder for folder in unit_folders()}
    chosen, written = _chosen(root, units), list[Path]()
    names, language = list(students) or _enrolled(root), language_of(root)
    for unit in chosen:
        folder = folders[unit.name]
        made = {name: in_language(folder, source_notebook(folder, unit.of_student(name)), language) for name in names}
        written += generate_for(root, unit.name, made)
    return [course_dir / path.relative_to(root) for path in written]


def _chosen(root: Path, names: Sequence[str]) -> list[Unit]:
    from autograder.cluster.course import missing_settings

    units = {unit.name: unit for unit in read(root)}
    if unknown := [name for name in names if name not in units]:
        raise LessonError(f"the course has no unit {unknown[0]!r}; it has: {', '.join(units)}")
    if not all(unit.own_variants for unit in units.values()):
        raise LessonError(NO_DRAW.format(course=root / "course.toml"))
    if SETTING in missing_settings(root):
        raise LessonError(NO_LINE.format(root=root, setting=SETTING))
    return [units[name] for name in names or units]


def _enrolled(root: Path) -> list[str]:
    """The ids of the students in the gradebook. Raises LessonError if there are none."""
    from nbgrader.api import Gradebook

    from autograder.cluster.course import settings_of, working_in

    course = settings_of(root).coursedir
    with working_in(root), Gradebook(course.db_url, course.course_id) as gradebook:
        found = sorted(student.id for student in gradebook.students)
    if not found:
        raise LessonError(NOBODY)
    return found


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 when all was written, 1 with one line on stderr where the course or the machine is at
    fault."""
    replace_unencodable()
    parser = make_parser(
        "course.personal",
        """
        Write each student's own notebooks, where course.toml draws contracts of the exercises for each student
        (variants_for = "student"). They are for you to hand out; what students hand in is graded by the contracts that
        belong to their ids.
        """,
        exits={0: "all was written", 1: "the course has no such contracts, or cannot be read; one line says why"},
        examples=(
            "python -m course.personal my-course",
            "python -m course.personal my-course --unit 02-masks --student ada",
        ),
    )
    parser.add_argument("directory", type=Path, metavar="COURSE_DIR", help="the course directory, built before")
    parser.add_argument("--unit", action="append", metavar="NAME", help="only this unit (may be repeated)")
    parser.add_argument("--student", action="append", metavar="ID",
                        help="only for this student (may be repeated); by default all of the gradebook")  # fmt: skip
    options = parser.parse_args(arguments)
    try:
        for path in write(options.directory, options.unit or (), options.student or ()):
            print(f"wrote {path}")
    except LessonError as error:
        parser.exit(1, f"course.personal: {error}\n")
    except Exception as error:
        message = error_messages.explain(error, f"the course {options.directory}")
        if message is None:
            raise
        parser.exit(1, f"course.personal: {message}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
