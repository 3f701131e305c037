"""What students get of a built course, and what their lab leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbformat import NotebookNode
from traitlets.config import Config

from autograder.nbgrader.config import PERSONAL
from course.agents import write_agents
from course.settings import LessonError

COURSE = "tfkit"
NOT_FOR_STUDENTS = (  # of JupyterLab's plugins, in the lab that shows the course as a student sees it
    "@jupyter/nbgrader",  # all of it: there is no class here to fetch from or hand in to
    "@jupyterlab/apputils-extension:announcements",
    "@tfkit/lab:instructor",
    "jupyterlab-jupytext",  # installed to read the lessons; its commands fill menus and launcher
    "@jupyterlite/pyodide-kernel-extension",  # for labs in a tab: here it finds no kernel to start, and logs an error
)


def generate_for(root: Path, unit: str, notebooks: Mapping[str, NotebookNode]) -> list[Path]:
    """Write each student's release of a unit to `personal/<student>/<unit>`; their paths. notebooks: student -> source.

    nbgrader makes them as it makes everybody's, with the same settings, but notes nothing in the gradebook, which has
    the cells of the one that all are graded by. Raises LessonError for a name that is no folder's.
    """
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory

    from autograder.cluster.course import settings_of

    if odd := [name for name in notebooks if name != Path(name).name or name.startswith(".")]:
        raise LessonError(f"{odd[0]!r} cannot be the id of a student: it is no name of a folder")
    config = Config(settings_of(root).config)
    with TemporaryDirectory(prefix="tfkit-personal-") as sources:
        config.CourseDirectory.update(course_id=COURSE, root=str(root), assignment_id=unit)
        course = CourseDirectory(config=config)
        for student, notebook in notebooks.items():
            course.source_directory, course.release_directory = (
                str(Path(folder, student)) for folder in (sources, root / PERSONAL)
            )
            path = Path(course.format_path(course.source_directory, ".", unit)) / f"{unit}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
            tfkit = notebook.metadata.tfkit
            write_agents(path.parent, unit, tfkit.exercises, tfkit.get("language"))
            converter = GenerateAssignment(coursedir=course, config=config, no_database=True, force=True)
            converter.preprocessors = [step for step in converter.preprocessors if step.__name__ != "SaveCells"]
            converter.log.setLevel("ERROR")
            converter.start()
    return [root / PERSONAL / student / unit / f"{unit}.ipynb" for student in notebooks]


def generate(root: Path, unit: str) -> None:
    """nbgrader's own `generate_assignment`, in this process: a separate command for each unit would take seconds to
    start."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory

    from autograder.cluster.course import settings_of

    settings = Config(settings_of(root).config)
    settings.CourseDirectory.update(course_id=COURSE, root=str(root), assignment_id=unit)
    settings.GenerateAssignment.force = True
    converter = GenerateAssignment(coursedir=CourseDirectory(config=settings), config=settings)
    converter.log.setLevel("ERROR")
    converter.start()
