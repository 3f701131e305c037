"""What students get of a built course, and what their lab leaves out."""

from __future__ import annotations

from pathlib import Path

from traitlets.config import Config

COURSE = "tfkit"
NOT_FOR_STUDENTS = (  # of JupyterLab's plugins, in the lab that shows the course as a student sees it
    "@jupyter/nbgrader",  # all of it: there is no class here to fetch from or hand in to
    "@jupyterlab/apputils-extension:announcements",
    "@tfkit/lab:instructor",
    "jupyterlab-jupytext",  # installed to read the lessons; its commands fill menus and launcher
    "@jupyterlite/pyodide-kernel-extension",  # for labs in a tab: here it finds no kernel to start, and logs an error
)


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
