"""`autograder questions`."""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

from autograder.console import help_texts
from autograder.console.base import BadInput, positive
from autograder.exercises import registry
from autograder.exercises.contracts import full_id
from autograder.feedback.translate import title_of
from autograder.grade.file import read
from autograder.questions.notebook import QuestionsFailed, judge
from autograder.questions.question import without_key
from autograder.questions.words import questions_text, verdict_text
from autograder.sandbox import SandboxError, choose
from tfkit_course.command_line import add_command

count_of_questions = partial(positive, what="questions")


def add_parsers(commands: Any) -> None:
    """Add questions."""
    questions = add_command(commands, "questions", help_texts.QUESTIONS)
    inner = questions.add_subparsers(required=True, metavar="COMMAND", title="commands")
    _show_parser(add_command(inner, "show", help_texts.QUESTIONS_SHOW))
    _check_parser(add_command(inner, "check", help_texts.QUESTIONS_CHECK))
    _prove_parser(add_command(inner, "prove", help_texts.QUESTIONS_PROVE))


def _add_code(command: argparse.ArgumentParser) -> None:
    command.add_argument("exercise", metavar="ID", help="an exercise id, as shown by `autograder list`")
    command.add_argument("file", type=Path, metavar="FILE.{py,ipynb}", help="a file or notebook that answers it")
    command.add_argument("--seed", type=int, default=0, metavar="N",
                         help="other questions for another seed (default: %(default)s)")  # fmt: skip
    command.add_argument("--count", type=count_of_questions, default=3, metavar="N",
                         help="at most so many questions (default: %(default)s)")  # fmt: skip
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.add_argument("--trust", action="store_true", help=help_texts.TRUST)


def _show_parser(command: argparse.ArgumentParser) -> None:
    _add_code(command)
    command.add_argument("--keys", action="store_true", help="print each key, with a sentence that explains it")
    command.set_defaults(run=_show)


def _check_parser(command: argparse.ArgumentParser) -> None:
    _add_code(command)
    command.add_argument("--answer", action="append", default=[], dest="answers", metavar="ANSWER",
                         help="the answer to a question, once for each of them in their order: 4, [2,3], an option's "
                              "number, or indices such as [0,2]")  # fmt: skip
    command.set_defaults(run=_check)


def _prove_parser(command: argparse.ArgumentParser) -> None:
    command.add_argument("exercises", nargs="*", metavar="ID", help="only right answers to these exercises")
    command.add_argument("--limit", type=partial(positive, what="answers"), metavar="N",
                         help="only N answers, from all exercises in turn")  # fmt: skip
    command.add_argument("--seed", type=int, default=0, metavar="N",
                         help="seed of the questions and of the sample (default: %(default)s)")  # fmt: skip
    command.add_argument("--blind", type=Path, metavar="DIR",
                         help="also the right answers in this folder, such as tests/blind")  # fmt: skip
    command.add_argument("--keys", type=partial(positive, what="keys"), default=0, metavar="N",
                         help="go through the answers again with the next seeds, until N keys were found")  # fmt: skip
    command.add_argument("--count", type=count_of_questions, default=3, metavar="N",
                         help="at most so many questions about each (default: %(default)s)")  # fmt: skip
    command.add_argument("--record", type=Path, metavar="FILE",
                         help="append each proof to this file, and take those from it that are there: the same command "
                              "goes on where it was stopped")  # fmt: skip
    command.add_argument("--trust", action="store_true", help=help_texts.TRUST)
    command.set_defaults(run=_prove)


def backend_of(trust: bool) -> Any:
    """The sandbox in which the code runs. Raises BadInput without one."""
    try:
        return choose(trust=trust)
    except SandboxError as error:
        raise BadInput(f"{error} (--trust)") from error


def _made(arguments: argparse.Namespace) -> dict[str, Any]:
    """The questions with their keys, and the code that they are about. Raises BadInput."""
    from autograder.questions.make import questions
    from autograder.questions.runs import GUARD_S, NoCode, OutOfTime, code_of

    exercise = registry.find(arguments.exercise)
    content = read(arguments.file)
    try:
        code = code_of(exercise, content)
    except NoCode as error:
        raise BadInput(f"{arguments.file}: {error}") from None
    try:
        found = questions(code, backend_of(arguments.trust), arguments.seed, arguments.count)
    except OutOfTime:
        why = f"no questions could be made in {GUARD_S:g} s: make the code faster, or ask on a less busy machine"
        raise BadInput(f"{arguments.file}: {why}") from None
    return {"exercise": full_id(exercise), "title": title_of(exercise), "seed": arguments.seed, "code": code.text,
            "questions": [one.as_json() for one in found]}  # fmt: skip


def _show(arguments: argparse.Namespace) -> int:
    """Prints the code and the questions; 1 if there are none."""
    found = _made(arguments)
    if not arguments.keys:
        found["questions"] = [without_key(one) for one in found["questions"]]
    if arguments.json:
        print(json.dumps(found))
    else:
        print(questions_text(found["title"], found["code"], found["questions"]))
    return 0 if found["questions"] else 1


def _check(arguments: argparse.Namespace) -> int:
    """Prints what becomes of the answers; 1 if one is not right."""
    found = _made(arguments)
    try:
        judged = judge(found["questions"], tuple(arguments.answers))
    except QuestionsFailed as error:
        raise BadInput(f"{error}: give one --answer for each question") from None
    print(json.dumps({**found, "questions": judged}) if arguments.json else verdict_text(judged))
    return 0 if judged and all(one["right"] for one in judged) else 1


def _prove(arguments: argparse.Namespace) -> int:
    """Prints a line for each answer and a summary; 1 if a key is wrong or stands in its line."""
    from autograder.questions.prove import prove_all, samples

    for name in arguments.exercises:
        registry.find(name)
    chosen = samples(arguments.exercises, arguments.limit, arguments.seed, arguments.blind)
    try:
        proofs = prove_all(chosen, backend_of(arguments.trust), arguments.seed, partial(print, flush=True),
                           keys=arguments.keys, count=arguments.count, record=arguments.record)  # fmt: skip
    except OSError as error:
        raise BadInput(f"{arguments.record} cannot be used: {error.strerror or error}") from error
    print(proofs.summary())
    return 1 if proofs.faults else 0
