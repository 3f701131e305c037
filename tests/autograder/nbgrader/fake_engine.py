"""Stands in for the engine where nbgrader's side is tested: the words in an answer decide what becomes of it."""

import os
import signal
from pathlib import Path

from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.api import Verdict


class Kill(NbGraderPreprocessor):
    """Ends the grader without a word, once, at the student called `killer`."""

    def preprocess(self, nb, resources):
        if resources["nbgrader"]["student"] == "killer" and not Path("killed").exists():
            Path("killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return nb, resources


def grade_notebook(nb, exercises, *, backend, seeds, student, device, progress, limits, **of_the_course):
    """`# right` in the answer earns its points, `# ours` is our failure, `# raise` is a crash of the grader, `# kill`
    ends its process.

    A line in `graded.txt` tells each time that a student is graded.
    """
    with Path("graded.txt").open("a") as file:
        print(student, file=file)
    sources = {cell.id: cell.source for cell in nb.cells if cell.cell_type == "code"}
    found = []
    for exercise in exercises:
        cell_id = "solution-" + exercise.id.replace(".", "-")
        if "# kill" in sources[cell_id]:
            os.kill(os.getpid(), signal.SIGKILL)
        if "# raise" in sources[cell_id]:
            raise RuntimeError("the engine broke")
        status = "passed" if "# right" in sources[cell_id] else "failed"
        status = "not_graded" if "# ours" in sources[cell_id] else status
        outputs = {cell_id: [{"output_type": "stream", "name": "stderr", "text": "<b>careful</b>\n"}]}
        score = exercise.points if status == "passed" else 0.0
        found.append(
            Verdict(
                exercise=exercise.id,
                status=status,
                score=score,
                max_score=exercise.points,
                hint="Your scores are divided by d." if status == "failed" else None,
                reason="a check crashed" if status == "not_graded" else "",
                outputs=outputs,
                sandbox="fake",
                seed=seeds[exercise.id],
            )
        )
        progress(found[-1])
    return found
