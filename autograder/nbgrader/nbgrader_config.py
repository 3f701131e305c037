"""nbgrader's configuration of a course. `python -m autograder.nbgrader.config DIR` copies it there; edit the copy.

The stock commands find it in the folder they are run in: generate_assignment, release_assignment, collect, autograde,
generate_feedback, release_feedback, formgrader.
"""

import os
import warnings
from pathlib import Path

from autograder.diagnosis import misconceptions
from autograder.own_tests import mutants
from autograder.settings import points

# nbgrader's own code provokes three of these for each new submission, whose rows come out right all the same
warnings.filterwarnings("ignore", message="Object of type <Submitted", module=r"nbgrader\.api")

HERE = Path(__file__).resolve().parent
c = get_config()  # type: ignore[name-defined]  # noqa: F821

c.CourseDirectory.course_id = os.environ.get("TFKIT_COURSE", "tfkit")  # its name in the exchange
c.CourseDirectory.root = str(HERE)
c.CourseDirectory.db_url = f"sqlite:///{HERE / 'gradebook.db'}"  # absolute: the formgrader runs in another folder
c.CourseDirectory.max_file_size = 20_000  # kB: notebooks carry recorded decodings

# One machine, one course. On a shared server name a folder that all users may write, here or in $NBGRADER_EXCHANGE.
c.Exchange.root = os.environ.get("NBGRADER_EXCHANGE", str(HERE / "exchange"))
c.Exchange.cache = str(HERE / "exchange" / "cache")
# Files that students send, from the course in a tab for instance: put them into downloaded/<assignment>/archive and run
# `nbgrader zip_collect <assignment>`. They are called 02-masks_ada_attempt_20261012T175900Z_02-masks.ipynb.
c.FileNameCollectorPlugin.named_regexp = (
    r".*_(?P<student_id>[^/_]+)_attempt_(?P<timestamp>[0-9TZ-]+)_(?P<file_id>[^/]+)"
)
c.ExchangeFactory.collect = "autograder.nbgrader.exchange.Collect"  # leaves links behind

# What students get: a stub that fails loudly when it is run.
c.ClearSolutions.code_stub = {"python": "# your code here\nraise NotImplementedError"}

# Grading: no kernel, no marks in the student's file are believed, verdicts are formed outside the student's process.
c.Autograde.pre_convert_hook = "autograder.nbgrader.submission.prepare"
c.Autograde.post_convert_hook = "autograder.nbgrader.unfinished.release"
c.Autograde.exporter_class = "autograder.nbgrader.submission.SubmissionExporter"
c.Autograde.sanitize_preprocessors = [
    "autograder.nbgrader.rebuild.RebuildFromGradebook",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    "autograder.nbgrader.execute.BoxedExecute",
    "nbgrader.preprocessors.LimitOutput",
    "autograder.nbgrader.save.SaveVerdicts",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# Late submissions, by the due dates of course.toml. A tenth of the score for each day begun, at most half of it; all of
# it after two weeks; a quarter of an hour is forgiven; ada has two days more:
# c.LatePolicy.penalty_per_day = 0.1
# c.LatePolicy.max_penalty = 0.5
# c.LatePolicy.closed_days = 14
# c.LatePolicy.grace_minutes = 15
# c.LatePolicy.extensions = {"03-heads": {"ada": 48}}  # hours
c.AssignLatePenalties.plugin_class = "autograder.nbgrader.late.LatePolicy"

c.BoxedExecute.key_file = str(HERE / "course.key")
c.BoxedExecute.device = "auto"
c.BoxedExecute.packages = []  # what student code may import besides torch, NumPy, IPython and matplotlib: ["pandas"]
# Which of the sandboxes that `autograder doctor` lists; by default the strongest that works here:
# c.BoxedExecute.sandbox = "bubblewrap"
# What the code of one exercise may use: seconds from start to end, processor seconds of one call or cell, memory and
# processes. These are the defaults:
# c.BoxedExecute.limits = LIMITS
c.BoxedExecute.mutants = mutants.setting(HERE / "corpus")  # of `autograder adopt`: for your own tests
c.BoxedExecute.misconceptions = misconceptions.setting(HERE / misconceptions.FILE)  # `autograder misconceptions` names
c.BoxedExecute.credit = points.credit_setting(HERE / points.FILE)  # [grading] of course.toml: what wrong answers keep
c.BoxedExecute.ordered = points.ordered_setting(HERE / points.FILE)  # [grading], too: what lines in order earn
c.BoxedExecute.contracts = points.contracts_setting(HERE / points.FILE)  # `variants` of course.toml, for each student
c.BoxedExecute.weights = points.setting(HERE / points.FILE)  # [weights] of course.toml: values, gradients, edges …

# For courses that put Execute or OverwriteCells back in: their safer settings.
c.OverwriteCells.add_missing_cells = True
c.Execute.store_widget_state = False

# Feedback: verdicts, no hidden tests, nothing that runs.
c.GenerateFeedback.preprocessors = [
    "autograder.nbgrader.ledger.GetGrades",
    "nbgrader.preprocessors.ClearHiddenTests",
    "autograder.nbgrader.feedback.ShowVerdicts",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]
c.ShowVerdicts.hints = 3  # 1: the concept; 2: what was seen as well; 3: the smallest counter-example too; 0: none
c.GenerateFeedback.exporter_class = "autograder.nbgrader.feedback.FeedbackExporter"
c.FeedbackExporter.preprocessors = []

# The formgrader's page of a submission: the same, but with the mark schemes.
c.HTMLExporter.preprocessors = ["autograder.nbgrader.feedback.SafePage"]
c.HTMLExporter.filters = {"markdown2html": "autograder.nbgrader.feedback.markdown2html"}
