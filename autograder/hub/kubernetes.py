"""The same class for Kubernetes: values of Zero to JupyterHub's chart, and a grader for each course."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import jinja2

from autograder.hub.class_file import HubClass
from tfkit_course import NAME

TEMPLATES = Path(__file__).parent / "kubernetes_files"


def files(found: HubClass) -> dict[str, str]:
    """File name -> text. The grader of a class with one course is grader.yaml, others have the course in their name."""
    # braces are JSON's and Python's in these files
    marks = jinja2.Environment(variable_start_string="<<", variable_end_string=">>", block_start_string="<%",
                               block_end_string="%>", trim_blocks=True, keep_trailing_newline=True,
                               undefined=jinja2.StrictUndefined, autoescape=False)  # fmt: skip
    common = {"registry": found.hub.registry, "version": metadata.version(NAME)}
    courses = json.dumps({course.instructor: course.name for course in found.courses})
    text = marks.from_string((TEMPLATES / "values.yaml").read_text(encoding="utf-8"))
    written = {"values.yaml": text.render(common, served=found.services, courses=courses, users=found.users)}
    grader = marks.from_string((TEMPLATES / "grader.yaml").read_text(encoding="utf-8"))
    for course in found.services:
        file = "grader.yaml" if len(found.services) == 1 else f"grader-{course.name}.yaml"
        written[file] = grader.render(common, name=course.name, file=file)
    return written


def write(found: HubClass, folder: Path) -> list[Path]:
    """Write them into the folder. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files(found).items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files(found)]
