"""Finds students whose answers perform the same tensor operations, where few others of the class do.

Renaming, adding a helper function, writing a call differently or moving lines does not hide what is computed. The
answers run in the box, where PyTorch itself reports each operation. A student's code could forge the report; it is
meant for a person and decides nothing by itself.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations
from pathlib import Path

import nbformat
import torch
from rich.console import Console
from rich.progress import track

from autograder.api import Exercise, Limits
from autograder.checks.compare import RaisedError
from autograder.checks.probe import Draw, Probe, observe
from autograder.checks.reference import reference_of
from autograder.cluster.course import BadCourse, boxed_settings, settings_of, students_in
from autograder.exercises import injected_modules, registry
from autograder.grade.run import CellSource, sources_of
from autograder.nbgrader.execute import name_answers
from autograder.report.similar import Match, SimilarPair, most_holders
from autograder.sandbox import Backend, choose
from autograder.sandbox.client import Cell, SandboxClient, StudentError
from tfkit_course.small_file import read_notebook_cells

MAX_OPERATIONS = 2000  # operations of one question that are compared
SHORT = 5  # operations; fewer are the same in many answers by chance
ANSWERS = 2  # answers in which two students must agree, since one unusual set of a dozen operations may be chance
NAMES = ("_operations_begin", "_operations_end")
RECORDER = f"""
from torch.utils._python_dispatch import TorchDispatchMode

class Recorder(TorchDispatchMode):
    names = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if len(self.names) < {MAX_OPERATIONS}:
            self.names.append(str(function))
        return function(*args, **(kwargs or {{}}))

recorder = Recorder()

def {NAMES[0]}():
    recorder.names.clear()
    recorder.__enter__()

def {NAMES[1]}():
    recorder.__exit__(None, None, None)
    return list(recorder.names)
"""

AS_NAMED = re.compile(r"aten\.([A-Za-z0-9_]{1,80})\.([A-Za-z0-9_]{1,80})")
Trace = tuple[str, ...]  # the operations of an answer sorted by name, with repetitions


def read(root: Path, assignment: str) -> dict[str, dict[str, Trace]]:
    """Student → answer's cell → its operations, where it answers at all.

    Raises BadCourse or SandboxError if the course cannot be read or no box can be started.
    """
    app = settings_of(root.resolve())
    boxed = boxed_settings(app)["BoxedExecute"]
    backend = choose(bool(boxed.get("trust")), str(boxed.get("sandbox", "")), boxed.get("packages", ()))
    folders = students_in(app.coursedir, app.coursedir.autograded_directory, assignment)
    probes_of: dict[str, list[Probe]] = {}
    found: dict[str, dict[str, Trace]] = {}
    shown = Console(stderr=True)
    for student, folder in track(folders.items(), "running the answers", console=shown, transient=True):
        found[student] = {}
        for path in sorted(folder.glob("*.ipynb")):
            found[student] |= _traces(_sources(path), probes_of, backend, Limits(**boxed.get("limits", {})))
    return found


def _sources(path: Path) -> list[CellSource]:
    try:
        nb = nbformat.from_dict({"cells": read_notebook_cells(path)})
        name_answers(nb)
        return sources_of(nb)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadCourse(f"{path} cannot be read ({error}): delete it and grade again") from error


def _traces(
    sources: list[CellSource], probes_of: dict[str, list[Probe]], backend: Backend, limits: Limits
) -> dict[str, Trace]:
    """The traces of all answers of a notebook, run in one box. Adds the probes of new exercises to `probes_of`."""
    answered = {source.exercise for source in sources}
    exercises = [exercise for exercise in registry.exercises() if exercise.id in answered]
    found: dict[str, Trace] = {}
    if not exercises:
        return found
    with SandboxClient(backend, limits) as student:
        try:
            student.inject(injected_modules.modules(registry.injected_references(exercises[0])))
            student.run_cells([Cell(source.id, source.text) for source in sources])
            student.bind(RECORDER, NAMES)
            for exercise in exercises:
                if exercise.id not in probes_of:
                    probes_of[exercise.id] = _questions(exercise)
                operations = [
                    name for probe in probes_of[exercise.id] for name in _performed_operations(student, probe)
                ]
                if operations:
                    found["solution-" + exercise.id.replace(".", "-")] = tuple(sorted(operations))
        except StudentError:
            return found  # the box or its protocol has failed: the rest is not compared
    return found


def _questions(exercise: Exercise) -> list[Probe]:
    """The first of each core check, the same for all students."""
    reference = reference_of(exercise)
    checks = [check for check in registry.check_function(exercise)() if check.core]
    drawn = (check.probes(Draw("operations", exercise.id, check.name, reference=reference), reference)
             for check in checks)  # fmt: skip
    return [probes[0] for probes in drawn if probes]


def _performed_operations(student: SandboxClient, probe: Probe) -> list[str]:
    """The operations performed for one question; none if it raises an exception."""
    student.call(NAMES[0])
    try:
        answer = observe(student, probe)
    except Exception as error:  # a check failed on an unexpected answer: it must not cost the whole page
        answer = RaisedError("exception", str(error))
    reply = student.call(NAMES[1])
    if isinstance(answer, RaisedError) or type(reply) is not list:
        return []
    return [name for name in reply[:MAX_OPERATIONS] if type(name) is str and _known(name)]


@lru_cache(maxsize=4096)
def _known(name: str) -> bool:
    """Whether PyTorch has an operation `aten.name.overload`."""
    parts = AS_NAMED.fullmatch(name)  # PyTorch fails on other names
    return parts is not None and parts[2] in getattr(getattr(torch.ops.aten, parts[1], None), "overloads", list)()


def matching_pairs(traces: Mapping[str, Mapping[str, Trace]]) -> list[SimilarPair]:
    """Pairs that agree in ANSWERS answers or more, the strongest first; evidence in nats, as of similar text."""
    found: dict[tuple[str, str], list[Match]] = defaultdict(list)
    for cell in dict.fromkeys(cell for own in traces.values() for cell in own):
        holders: dict[Trace, list[str]] = defaultdict(list)
        for student in sorted(student for student, own in traces.items() if cell in own):
            holders[traces[student][cell]].append(student)
        students = sum(map(len, holders.values()))
        for trace, who in holders.items():
            if len(trace) >= SHORT and len(who) <= most_holders(students):
                match = Match(cell, 1.0, math.log(students / len(who)), (frozenset(), frozenset()))
                for pair in combinations(who, 2):
                    found[pair].append(match)
    pairs = [SimilarPair(who, tuple(some)) for who, some in found.items() if len(some) >= ANSWERS]
    return sorted(pairs, key=lambda pair: -pair.evidence)
