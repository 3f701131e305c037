"""Draws, on the grader's own machine, the seeds that one submission needs: a worker has not the key they come from."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from traitlets import log as traitlets_log

from autograder.cluster.bundle import ReleasedNotebook, SubmittedNotebook
from autograder.cluster.job import rebuilt
from autograder.grade.seeds import seeds_for
from autograder.nbgrader.execute import name_answers, wanted_exercises


def draw(
    key: bytes, student: str, submitted: Mapping[str, SubmittedNotebook], released: Mapping[str, ReleasedNotebook]
) -> dict[str, dict[str, int]]:
    """Notebook → exercise → the seed of its inputs, as `nbgrader autograde` draws them for the same notebooks.

    A notebook that cannot be rebuilt gets none: its worker fails at the same place, and says where.
    """
    found = {}
    with _silent():  # the worker reports what it sees of the notebook
        for name in submitted.keys() & released.keys():
            try:
                found[name] = _seeds(key, student, name, submitted[name], released[name])
            except Exception:  # of whatever a student wrote: it must not cost the class its grades
                continue
    return found


def _seeds(
    key: bytes, student: str, name: str, submitted: SubmittedNotebook, released: ReleasedNotebook
) -> dict[str, int]:
    nb = rebuilt(name, submitted, released, [])
    name_answers(nb)
    return seeds_for(key, student, nb, filter(None, wanted_exercises(nb).values()))


@contextmanager
def _silent() -> Iterator[None]:
    """Nothing is logged by nbformat and nbgrader meanwhile."""
    log = traitlets_log.get_logger()
    log = log if isinstance(log, logging.Logger) else log.logger
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before
