"""The help of each `autograder` command: a summary, a description, the exit status, examples."""

from __future__ import annotations

from autograder.console.help_format import CommandHelp

REFUSED = "the request cannot be carried out; the reason is on standard error"
DONE = {0: "done", 2: REFUSED}
COURSE_DIR = "the nbgrader course directory, which contains nbgrader_config.py"
ASSIGNMENT = "the assignment's name, such as 03-heads"
TRUST = "if there is no sandbox, run the code without isolation; use this only for your own code"
WORKERS = "number of local worker processes; by default as many as cores and memory allow"
DEVICE = "where to run the code; auto uses a GPU if the sandbox can reach one (default: %(default)s)"

CHECK = CommandHelp(
    summary="grade one exercise in files, or all exercises of notebooks",
    description="""
    Run the checks of one exercise on each file, or those of all exercises of each notebook, and print a verdict for
    each: which properties hold, the points, and, for a wrong answer, the misconception that it behaves like, the first
    line that goes wrong and the smallest counter-example that was found. The code runs in a sandbox, on fresh random
    inputs. No gradebook is read or written.

    For CI, --format github annotates the lines of the notebooks' files and adds a summary to the file that
    GITHUB_STEP_SUMMARY names; --format gitlab writes junit.xml and codequality.json; --format markdown prints the
    summary.
    """,
    exits={
        0: "all files passed",
        1: "at least one file failed",
        2: "a file could not be graded, or the request cannot be carried out",
    },
    examples=(
        "autograder check attention.scaled_dot_product answer.py",
        "autograder check masks.causal 02-masks.ipynb --hints 1 --json",
        "autograder check 02-masks.ipynb 03-heads.ipynb --format markdown",
    ),
)
GRADE = CommandHelp(
    summary="grade an nbgrader assignment of a whole class, in parallel",
    description="""
    Grade every submission of an assignment that is new since the last run, and write the results into nbgrader's
    gradebook and the autograded/ folder, as `nbgrader autograde` would. Submissions are graded by several worker
    processes on this machine, or by the workers of a Dask cluster. Every finished submission is stored at once, so a
    run that was stopped or killed can be continued with --resume. One submission in twenty is graded a second time,
    and a verdict that differs then is named.
    """,
    exits={
        0: "all grades are in the gradebook",
        2: "a submission could not be graded, a verdict was another the second time, changes were not confirmed, or "
        "the request cannot be carried out",
        130: "stopped by Ctrl-C; continue with --resume",
    },
    examples=(
        "autograder grade my-course 03-heads",
        "autograder grade my-course 03-heads --workers 8",
        "autograder grade my-course 03-heads --regrade",
    ),
)
VERIFY = CommandHelp(
    summary="grade a sample of graded submissions again, and name every difference",
    description="""
    Grade submissions of an assignment again, in other processes, with the same key and so the same random inputs, and
    compare with the verdicts in the autograded/ folder. A line names each difference: student, exercise, points and
    check before and after. Grades stay as they are. The class report shows how many verdicts were equal.
    """,
    exits={
        0: "all verdicts are equal",
        1: "at least one verdict differs",
        2: "a submission could not be graded again, or the request cannot be carried out",
        130: "stopped by Ctrl-C",
    },
    examples=("autograder verify my-course", "autograder verify my-course 03-heads --sample 400"),
)
SERVE = CommandHelp(
    summary="grade submissions as they arrive in the exchange, and release their feedback",
    description="""
    Watch the exchange of one or more courses. Each submission is collected, graded and written to the gradebook, and
    its feedback is released to the student. A course that is not there yet is waited for. The command runs until it
    gets SIGINT or SIGTERM. It can be started again at any time, and continues from what is stored.
    """,
    exits={
        0: "stopped by a signal; or, with --once, everything was graded, released and, with --passback, sent",
        2: "with --once, a course is missing, or a submission, its feedback or the passback failed; or the request "
        "cannot be carried out",
    },
    examples=("autograder serve my-course", "autograder serve my-course --assignment 03-heads --once"),
)
EXPORT = CommandHelp(
    summary="export scores to Canvas, Moodle or Gradescope, or recipes for CI",
    description="""
    Write the scores of an assignment from the gradebook in the format of a learning management system. For
    github-classroom and gradescope-autograder no scores are written, but the files with which those services run the
    checks themselves.
    """,
    exits=DONE,
    examples=(
        "autograder export my-course 03-heads --to canvas -o 03-heads.csv",
        "autograder export my-course 03-heads --to github-classroom -o classroom",
    ),
)
PASSBACK = CommandHelp(
    summary="send scores to the LMS's gradebook by LTI 1.3",
    description="""
    Send the scores of an assignment to the learning management system that lti.toml in the course directory describes
    (docs/lti.md). Accepted scores are recorded in passback.jsonl, so running the command again sends only those that
    are new or have changed.
    """,
    exits={0: "all scores were accepted", 2: "a student is unknown to the LMS, or the request cannot be carried out"},
    examples=("autograder passback my-course 03-heads",),
)
ROSTER = CommandHelp(
    summary="add the LMS's learners to the gradebook by LTI 1.3",
    description="""
    Read the members of the LMS course that lti.toml describes (docs/lti.md), and add every learner to nbgrader's
    gradebook. Students who are there already stay as they are; nobody is removed.
    """,
    exits=DONE,
    examples=("autograder roster my-course",),
)
PAGES = {
    "report": CommandHelp(
        summary="write an HTML report on how a class did and what to teach again",
        description="""
        Write one page about a graded assignment: how many students solved each exercise, which misconceptions occurred
        and how often, how attempts developed, and examples of counter-examples. The page works offline.
        """,
        exits=DONE,
        examples=("autograder report my-course 03-heads -o 03-heads.html",),
    ),
    "similarity": CommandHelp(
        summary="write an HTML report on answers that are unusually similar",
        description="""
        Compare the answers of a class pairwise, after names, comments and layout are removed, and list pairs that are
        more similar than the class is in general. The page is evidence for a conversation with students, and no proof.
        """,
        exits=DONE,
        examples=("autograder similarity my-course 03-heads -o similarity.html",),
    ),
}
HISTORY = CommandHelp(
    summary="show every graded attempt at an assignment, by student",
    description="""
    Print a table of the attempts that `autograder grade` and `autograder serve` have graded: the points of each
    attempt, what changed since the one before, and the student's total in the gradebook.
    """,
    exits=DONE,
    examples=("autograder history my-course 03-heads", "autograder history my-course 03-heads ada grace"),
)
MISCONCEPTIONS = CommandHelp(
    summary="group a class's wrong answers that match no known misconception",
    description="""
    Group wrong answers that behave alike, and show each group with its size and an example. In an interactive terminal
    the command asks for a sentence about each group. The sentence is stored in the course's misconceptions.toml, and
    later verdicts show it to students whose answer behaves in the same way.
    """,
    exits=DONE,
    examples=(
        "autograder misconceptions my-course 03-heads",
        "autograder misconceptions my-course --export EXERCISE/NAME >> wrong.toml",
    ),
)
LINT = CommandHelp(
    summary="check an assignment for faults before it is released",
    description="""
    Check the source notebooks of assignments, release a copy, and look for solutions or hidden tests in it. Then run
    the released notebook and the solution in the sandbox: the stubs must earn no points, and the solution all of them,
    within the time limits.
    """,
    exits={0: "no faults", 1: "faults were found and printed", 2: REFUSED},
    examples=("autograder lint my-course 03-heads",),
)
ADOPT = CommandHelp(
    summary="turn a notebook with solutions and asserts into an assignment",
    description="""
    Make an nbgrader assignment of an ordinary notebook: cells with ### BEGIN SOLUTION and ### END SOLUTION become
    solutions, and cells below with an assert become tests. The tests are then run on mutated solutions, and the mutants
    that no test notices are listed. Finally the new assignment is linted, as with `autograder lint`.
    """,
    exits={0: "no faults", 1: "the assignment was written, and has faults", 2: REFUSED},
    examples=("autograder adopt hw1.ipynb my-course",),
)
MCP = CommandHelp(
    summary="serve exercises, checks and hints to a coding assistant (MCP over stdio)",
    description="""
    Run a server of the Model Context Protocol on standard input and output, as a coding assistant starts it. The
    assistant can read an exercise, check code and ask for hints, within the limits that the course sets
    (docs/assistants.md). It never gets a solution, and all its requests are logged.
    """,
    exits=DONE,
    examples=("autograder mcp my-course", "autograder mcp my-course --log"),
)
BENCHMARK = CommandHelp(
    summary="compare graders on our right and wrong answers, or export them as a dataset",
    description="""
    Measure ways of testing on the collected right and wrong answers: how many wrong answers a grader rejects, and how
    many right ones (docs/benchmark-of-graders.md).
    """,
)
BENCHMARK_COMMANDS = {
    "export": CommandHelp(
        summary="write the dataset of right and wrong answers, with its dataset card",
        description="""
        Write all collected answers as JSON lines, with pairs of a right answer and one mistake in it, the exercises,
        and a README.md as dataset card.
        """,
        exits=DONE,
        examples=("autograder benchmark export wrong-transformers",),
    ),
    "list": CommandHelp(
        summary="list the graders and the projects that they follow",
        description="""
        Print a line for each installed grader: its name, the number of exercises that it covers, and the published way
        of testing that it follows.
        """,
        exits=DONE,
    ),
    "run": CommandHelp(
        summary="let graders judge the answers, and print the table",
        description="""
        Let every chosen grader judge the answers in the sandbox, and print a Markdown table of the results. With
        --output the judgements are stored as they come, and a run that was stopped continues from there.
        """,
        exits={
            0: "all answers were judged",
            2: "an answer could not be judged, or the request cannot be carried out",
            130: "stopped by Ctrl-C",
        },
        examples=("autograder benchmark run --sample 5", "autograder benchmark run -o results --workers 4"),
    ),
}
CAPSTONE = CommandHelp(
    summary="train and measure the language models of the last unit within a budget",
    description="""
    Grade the capstone, in which students write a language model of their own. The model is trained in the sandbox on
    text of a synthetic language, within a budget of processor time, and measured on new text in bits per byte.
    """,
)
CAPSTONE_COMMANDS = {
    "check": CommandHelp(
        summary="train and measure the LanguageModel of notebooks or Python files",
        description="""
        Train and measure the class LanguageModel that each file defines, and print its points and bits per byte. No
        gradebook is written.
        """,
        exits={0: "every file earned points", 1: "a file earned none", 2: REFUSED},
        examples=("autograder capstone check 17-capstone.ipynb --seconds 10",),
    ),
    "grade": CommandHelp(
        summary="measure the submissions of a class, and write the points into the gradebook",
        description="""
        Train and measure the submissions one after the other. Results are stored in capstone.json in the course
        directory, and the points are entered in the gradebook as the manual score of the project's cell. Run `nbgrader
        autograde` first, so that the gradebook has the submissions.
        """,
        exits=DONE,
        examples=("autograder capstone grade my-course",),
    ),
    "show": CommandHelp(
        summary="print the leaderboard: students who asked to be listed, without their names",
        description="""
        Print the stored results, the best model first. Only students who asked for it are listed, under the name that
        they chose for the leaderboard.
        """,
        exits=DONE,
        examples=("autograder capstone show my-course",),
    ),
}
REQUEST = CommandHelp(
    summary="ask the instructor to regrade a question (for students)",
    description="""
    Send a regrade request for one question of a notebook that you have submitted. It goes through nbgrader's exchange;
    the instructor's answer will be part of your feedback.
    """,
    exits=DONE,
    examples=('autograder request 03-heads.ipynb attention.multi_head "my reason"',),
)
REQUESTS = CommandHelp(
    summary="list the regrade requests of a course",
    description="""
    Print a line for each regrade request: when it was sent, the assignment, the question, the student, whether it
    waits, was accepted or was declined, and the student's reason. Requests are answered on the marking page.
    """,
    exits=DONE,
    examples=("autograder requests my-course",),
)
LIST = CommandHelp(
    summary="list the exercise ids",
    description="""
    Print the id of every installed exercise, one per line, in the order of the units. `autograder check` takes these
    ids.
    """,
    exits={0: "done"},
)
DOCTOR = CommandHelp(
    summary="report the sandbox, devices and versions, and what is missing",
    description="""
    Print what this machine can grade with: the versions of Python and of the packages, the devices, and for each kind
    of sandbox whether it works here and what it restricts. Each sandbox is tried by running something in it. In the
    folder of a course, check its nbgrader_config.py as well: one that cannot be read would grade without a sandbox.

    With --attack, play attacks that students could try instead: each is a submission to a course that is made for it
    and removed again, graded by nbgrader in the sandbox that would be used here, beside an honest student. A line for
    each attack says whether it was paid. At the end it is checked that the honest student has full marks, that no file
    changed, and that no process is left. The files of COURSE_DIR are only read. It takes about two minutes, with --all
    about a quarter of an hour.
    """,
    exits={
        0: "an isolating sandbox is available, and the course's configuration, if any, is in order; with --attack, "
        "everything held",
        1: "with --attack, an attack was paid, cost another student something, or touched the machine",
        2: "there is no such sandbox or configuration; the report says what is missing",
        130: "stopped by Ctrl-C; nothing is left behind",
    },
    examples=("autograder doctor", "autograder doctor --attack", "autograder doctor --attack my-course --all"),
)
CORPUS = CommandHelp(
    summary="test the checks on our own right and wrong answers",
    description="""
    Run the checks on the collected answers of each exercise: every right answer must pass, every wrong one must fail
    and be recognised as its own misconception. With --results, a run that was interrupted goes on where it stopped.
    With --seeds each answer is asked with other random inputs, at each seed in a new sandbox: it prints every answer
    that does not pass, fail or keep its points at all of them.
    `autograder corpus show ID NAME` prints one collected answer in full.
    """,
    exits={0: "every answer was judged correctly", 1: "an answer was misjudged, or a mutant survived", 2: REFUSED},
    examples=(
        "autograder corpus attention.multi_head --report --mutants",
        "autograder corpus --report --workers 2 --results corpus.jsonl",
        "autograder corpus masks.softmax fast.flash_attention --seeds 40",
        "autograder corpus show masks.causal looks_into_the_future",
    ),
)

HUNTS = CommandHelp(
    summary="list, show, grade and prove bug hunts",
    description="""
    A bug hunt is code that looks right and has one to three faults, made from a right answer of an exercise and the
    mistakes that are collected for it. The student sees a symptom, names the suspected lines, writes a test that fails
    on the code, and repairs it.
    """,
)
HUNTS_LIST = CommandHelp(
    summary="list the hunts",
    description="""
    Print a line for each hunt: its id, the number of lines that the smallest known repair changes, its level (1 to 3:
    the fewer checks fail, the harder it is) and the checks that fail. The levels are read from --results, or measured
    for the exercises that are named.
    """,
    exits=DONE,
    examples=("autograder hunts list masks.causal", "autograder hunts list --results hunts.jsonl"),
)
HUNTS_SHOW = CommandHelp(
    summary="print the code and the symptom of a hunt",
    description="""
    Print the code of a hunt with the numbers of its lines, and the symptom: what the code gives for a small input,
    beside what right code gives. For an exercise the hunt is drawn by student and seed, and the faults are not named;
    for the id of a hunt a last line says where they are.
    """,
    exits=DONE,
    examples=(
        "autograder hunts show masks.causal --student ada --seed 3",
        "autograder hunts show masks.causal/sees_one_ahead",
    ),
)
HUNTS_CHECK = CommandHelp(
    summary="grade what was handed in for a hunt",
    description="""
    Grade the suspected lines, the test and the repair, each for points of its own. The repair is graded by the
    exercise's checks. The test is run on right answers in all styles, where it must pass, on the faulty code, where it
    must fail, and on other known mistakes of the exercise. Both run in a sandbox.
    """,
    exits={
        0: "the repair is right, and the test can be relied on and fails on the faulty code",
        1: "one of them is not",
        2: "it could not be graded, or the request cannot be carried out",
    },
    examples=("autograder hunts check masks.causal --lines 5 --test t.py --repair r.py",),
)
HUNTS_PROVE = CommandHelp(
    summary="prove that each hunt can be solved",
    description="""
    For each hunt: the checks see its faults, the symptom shows a difference that is there again when the code and its
    repair run anew, the known repair passes all checks, and of several faults each has to be repaired. With --results,
    a run that was interrupted goes on where it stopped.
    """,
    exits={0: "all that was proved holds", 1: "something does not; each has a line", 2: REFUSED},
    examples=(
        "autograder hunts prove --only masks.causal rnn.cell",
        "autograder hunts prove --workers 2 --results hunts.jsonl",
        "autograder hunts prove --faults 2 --sample 3",
    ),
)
