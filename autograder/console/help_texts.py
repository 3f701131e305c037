"""The help of each `autograder` command: a summary, a description, the exit status, examples."""

from __future__ import annotations

from tfkit_course.command_line import DONE, REFUSED, CommandHelp

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
    by another worker if there is one (`again` in course.toml), and a verdict that differs then is named.
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

    After an upgrade, --upgraded takes those that were graded with other checks instead, and says whose points would
    change if they were graded again (`autograder grade --regrade`), and how many students would gain or lose.
    """,
    exits={
        0: "all verdicts are equal; with --upgraded, nobody's points would change",
        1: "at least one verdict differs, or somebody's points would change",
        2: "a submission could not be graded again, or the request cannot be carried out",
        130: "stopped by Ctrl-C",
    },
    examples=(
        "autograder verify my-course",
        "autograder verify my-course 03-heads --sample 400",
        "autograder verify my-course --upgraded",
    ),
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
ENVIRONMENT = CommandHelp(
    summary="prompts for language models and verdicts on what they reply, as JSON lines",
    description="""
    Use the exercises to evaluate or train language models: the tasks as prompts, and verdicts on replies with rewards
    (docs/benchmark-of-graders.md). In Python it is `autograder.environment`.
    """,
)
ENVIRONMENT_COMMANDS = {
    "tasks": CommandHelp(
        summary="print the tasks",
        description="""
        Print a JSON object for each exercise: `exercise`, its id, `prompt`, the chat messages for a model, and `info`.
        A prompt is what a student reads: the lesson's section, the set-up and the stub.
        """,
        exits=DONE,
        examples=("autograder environment tasks > tasks.jsonl",),
    ),
    "judge": CommandHelp(
        summary="judge replies from standard input",
        description="""
        Read a JSON object from each line of standard input, with `exercise` and `answer`: the reply, which is code or
        has it in a fenced block. With `messages` instead of `answer`, the last message of the assistant is judged.
        Print a JSON object for each line, in their order and as soon as it is there: `score` from 0 to 1, `status`,
        `checks`, `misconceptions`, `feedback` for the next turn, and `id` if the line has one. Replies run in the
        sandbox.
        """,
        exits={
            0: "all lines were judged",
            1: "a line could not be judged; its object has `error`, or the status not_graded",
            2: REFUSED,
        },
        examples=(
            "autograder environment judge < replies.jsonl > outcomes.jsonl",
            "autograder environment judge --hints 2 --workers 8",
        ),
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
BACKUP = CommandHelp(
    summary="write a course into one file from which it goes on",
    description="""
    Write everything that a course needs to go on grading into one archive: settings, key, gradebook, records, marks,
    submissions, what was released and graded. Databases are copied as they are at one moment, so grading and marking
    may go on meanwhile. Caches, links, repositories (.git) and environments (.venv) are left out; a line names what
    the course keeps outside its folder. The archive holds the course's key: only its owner can read it.
    """,
    exits={0: "done", 2: REFUSED, 130: "stopped by Ctrl-C; nothing was written"},
    examples=("autograder backup my-course my-course-2026-10-12.zip",),
)
RESTORE = CommandHelp(
    summary="write the course in a backup into a new folder",
    description="""
    Check an archive that `autograder backup` wrote, and write the course in it to a new folder, whole or not at all.
    An archive that is damaged, or was written by a later release, is refused in a line. Nothing is overwritten.
    Restore only archives that you trust: grading runs the nbgrader_config.py in them.
    """,
    exits={0: "done", 2: REFUSED, 130: "stopped by Ctrl-C; nothing was written"},
    examples=("autograder restore my-course-2026-10-12.zip my-course",),
)
STATUS = CommandHelp(
    summary="show in one screen where a class stands",
    description="""
    Print a line for each assignment: how many students handed in, how many submissions are graded, are still to be
    graded, and wait for a person, and how the last run ended; then whether `autograder serve` is running, how many
    regrade requests wait, and how many verdicts were equal when graded again. Nothing is graded or changed.
    """,
    exits=DONE,
    examples=("autograder status my-course", "autograder status my-course --json"),
)
FORGET = CommandHelp(
    summary="remove what a course holds about one student",
    description="""
    List and, after a confirmation, remove a student's data from a course: the entries in the gradebook, the rows of
    records.db and marking.db, submissions, graded and feedback pages, what lies in the exchange, predictions and
    outcomes of the class's folder (if TFKIT_PREDICTIONS names it), the capstone's results and the row of students.csv.
    Other files that mention the student are named with their line, and left to you; so are backups. It cannot be
    undone. Counts that name nobody, such as that of equal verdicts, stay. What this account may not remove is named at
    the end, when all else is removed.
    """,
    exits={0: "removed, or, with --dry-run, listed", 2: f"{REFUSED}; or what could not be removed is named there"},
    examples=("autograder forget ada my-course --dry-run", "autograder forget ada my-course"),
)
LINK = CommandHelp(
    summary="print a link that opens a unit's notebook, and its QR code",
    description="""
    Print an address that opens a released notebook in one click: on a JupyterHub, where nbgitpuller fetches it from the
    repository that course.toml names; on the site in a browser's tab; or, for an LMS, the launch URL with its custom
    parameters and the content item of LTI 1.3. With --qr, write a QR code for a slide.
    """,
    exits=DONE,
    examples=(
        "autograder link my-course 02-masks --hub https://hub.example.edu",
        "autograder link my-course 02-masks --tab https://example.edu --qr 02.svg",
        "autograder link my-course 02-masks --lti https://hub.example.edu",
    ),
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
    With --seeds each answer is asked in sandboxes with other random inputs at each seed: it prints every answer that
    does not pass, fail or keep its points at all of them.
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
    mistakes that are collected for it; or a whole model, a page of tfkit, with a fault (--pages, page.gpt2). The
    student sees a symptom, names the suspected lines, writes a test that fails on the code, and repairs it.
    """,
)
ORDER = CommandHelp(
    summary="put the lines of a right answer in order, or judge an order of them",
    description="""
    Print the lines of an exercise's commonest right answer, shuffled by student and seed among one to three lines of
    known mistakes. With --answer, an order of them is judged by running it through the exercise's checks in a sandbox,
    so any right order passes; what a chosen mistake shows is told, or else the first line that is out of place. Where
    the answer has one or two lines, there is nothing to put in order.

    `order prove` runs, for each exercise, the right order, the orders that are equivalent by data flow, those with the
    line of a mistake, and some with two lines exchanged, of which no line may be named that is right. Then it answers
    puzzles of other students by a right order, written as they would write it.
    """,
    exits={
        0: "printed; the order is right; or all that was proved holds",
        1: "the order is not right, or something that was proved does not hold",
        2: REFUSED,
    },
    examples=(
        "autograder order attention.scaled_dot_product",
        'autograder order masks.softmax --answer "3 1 2:1"',
        "autograder order prove masks.softmax --orders 20",
        "autograder order prove --shuffles 125  # 10,000 in all",
    ),
)
HUNTS_LIST = CommandHelp(
    summary="list the hunts",
    description="""
    Print a line for each hunt: its id, the number of lines that the smallest known repair changes, its level (1 to 3:
    the fewer checks fail, the harder it is) and the checks that fail. The levels are read from --results, or measured
    for the exercises that are named.
    """,
    exits=DONE,
    examples=(
        "autograder hunts list masks.causal",
        "autograder hunts list page.gpt2",
        "autograder hunts list --pages --results hunts.jsonl",
    ),
)
HUNTS_SHOW = CommandHelp(
    summary="print the code and the symptom of a hunt",
    description="""
    Print the code of a hunt with the numbers of its lines, and the symptom: what the code gives for a small input,
    beside what right code gives; of a page, in which part it differs from the published model first, and of some
    faults how a small model learns with it. For an exercise or page the hunt is drawn by student and seed, and the
    faults are not named; for the id of a hunt a last line says where they are.
    """,
    exits=DONE,
    examples=(
        "autograder hunts show masks.causal --student ada --seed 3",
        "autograder hunts show masks.causal/sees_one_ahead",
        "autograder hunts show page.llama --seed 3",
    ),
)
HUNTS_CHECK = CommandHelp(
    summary="grade what was handed in for a hunt",
    description="""
    Grade the suspected lines, the test and the repair, each for points of its own. The repair is graded by the
    exercise's checks. The test is run on right answers in all styles, where it must pass, on the faulty code, where it
    must fail, and on other known mistakes of the exercise. A repaired page has to compute what the page computes, for
    several weights and inputs. Both run in a sandbox.
    """,
    exits={
        0: "the repair is right, and the test can be relied on and fails on the faulty code",
        1: "one of them is not",
        2: "it could not be graded, or the request cannot be carried out",
    },
    examples=("autograder hunts check masks.causal --lines 5 --test t.py --repair r.py",),
)
VARIANTS = CommandHelp(
    summary="list, show and prove other contracts of the exercises",
    description="""
    A variant of an exercise asks for the same idea under another contract: True hides instead of shows, the length
    comes before the batch, the weights before the output. Its stub, its solution and its collected answers are
    rewritten from the course's, and its checks and the names of mistakes are those of the exercise. A course asks for
    them if its course.toml has `variants`, a text by which they are drawn; --group says which ones a text draws.

    --prove judges every collected answer, rewritten: right ones must pass, wrong ones fail under their own names, and
    an answer that keeps to the course's own contract must fail.
    """,
    exits={0: "printed; or all that was proved holds", 1: "an answer is misjudged; each has a line", 2: REFUSED},
    examples=(
        "autograder variants",
        "autograder variants show masks.causal@hidden",
        "autograder variants --group '2026, group B'",
        "nice autograder variants --prove masks.causal rnn.encode@length_first",
    ),
)
HUNTS_PROVE = CommandHelp(
    summary="prove that each hunt can be solved",
    description="""
    For each hunt: the checks see its faults, the symptom shows a difference that is there again when the code and its
    repair run anew, the known repair passes all checks, and of several faults each has to be repaired. Of a page: the
    faulty one runs and computes something else, and the page is right in each style that tests meet. With --results,
    a run that was interrupted goes on where it stopped.
    """,
    exits={0: "all that was proved holds", 1: "something does not; each has a line", 2: REFUSED},
    examples=(
        "autograder hunts prove --only masks.causal rnn.cell",
        "autograder hunts prove --workers 2 --results hunts.jsonl",
        "autograder hunts prove --faults 2 --sample 3",
        "autograder hunts prove --pages --sample 3",
    ),
)

QUESTIONS = CommandHelp(
    summary="questions about a student's own code, with keys from running it",
    description="""
    Make questions from a right answer that a student wrote: the shape or an entry of a value in a line, which rows of
    the result change with a row of an input, what a changed line gives, how often a line is run. The keys are found by
    running the code in the sandbox, in two ways each; a question for which they differ is not asked.
    """,
)
QUESTIONS_SHOW = CommandHelp(
    summary="print the code and the questions about it",
    description="""
    Print the code with the numbers of its lines, and the questions. The same code and seed give the same questions.
    """,
    exits={0: "there are questions", 1: "there are none: the code is not right, or too short", 2: REFUSED},
    examples=(
        "autograder questions show attention.attend answer.py --keys",
        "autograder questions show masks.causal 02-masks.ipynb --seed 3",
    ),
)
QUESTIONS_CHECK = CommandHelp(
    summary="compare answers with what the code does",
    description="""
    Make the questions again, and print for each answer whether the code does that, with the line and the value.
    """,
    exits={0: "all answers are right", 1: "one is not, or there are no questions", 2: REFUSED},
    examples=("autograder questions check masks.causal a.py --answer 3 --answer 2,4",),
)
QUESTIONS_PROVE = CommandHelp(
    summary="prove the questions on answers that are known to be right",
    description="""
    For each collected right answer: how many questions there are, whether a third way to run the code gives each key
    too, and whether a key stands in the line that its question names. The last line has the sums. Thousands of keys
    take hours: with --record it may be stopped at any time.
    """,
    exits={0: "no key is wrong, and none stands in its line", 1: "there is one; its line says which", 2: REFUSED},
    examples=(
        "autograder questions prove masks.causal",
        "autograder questions prove --blind tests/blind --limit 100",
        "autograder questions prove --keys 10000 --record proofs.jsonl",
    ),
)
VIVA = CommandHelp(
    summary="write a page for each student, for a short talk about their own code",
    description="""
    For each submission of an assignment write an HTML page: the student's code with the numbers of its lines, five
    questions about it, their keys in a part of its own, and what was asked before. A submission that cannot be read has
    a page that says so. Nothing is graded.
    """,
    exits=DONE,
    examples=("autograder viva my-course 03-heads", "autograder viva my-course 03-heads ada bob -o viva/2"),
)

HUB = CommandHelp(
    summary="a JupyterHub for a class: on this machine, or files for Kubernetes",
    description="""
    Start a JupyterHub with courses, their instructors and students, an exchange and a grading service for each course,
    or write the same class as files for Kubernetes. `autograder hub up --help` describes the first.
    """,
)
HUB_COMMANDS = {
    "up": CommandHelp(
        summary="start the Hub on this machine",
        description="""
        Start a JupyterHub for the class that CLASS_DIR/class.toml describes: users, an exchange, a grading service
        for each course, the class panel for instructors. Its database is a file and its proxy a process that it
        starts; users log in with the passwords of their accounts. What is missing on this machine is named first, each
        with what to do, and nothing is started then.
        """,
        exits={0: "the Hub was stopped, or --dry-run found nothing missing", 2: REFUSED},
        examples=(
            "sudo autograder hub up /srv/class --instructor teacher --students ada ben",
            "sudo autograder hub up /srv/class",
            "autograder hub up /srv/class --dry-run",
        ),
    ),
    "kubernetes": CommandHelp(
        summary="write the class as files for Zero to JupyterHub",
        description="""
        Write values.yaml for the chart of Zero to JupyterHub, and a grader.yaml for each course, for the class that
        CLASS_DIR/class.toml describes.
        """,
        exits=DONE,
        examples=("autograder hub kubernetes /srv/class -o kubernetes",),
    ),
}
