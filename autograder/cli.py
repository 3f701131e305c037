"""The `autograder` command. Each subcommand imports what it needs, so that `list` is instant."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from autograder import doctor, sandbox
from autograder.assistants import command as assistants
from autograder.benchmark import command as benchmark
from autograder.capstone import command as capstone
from autograder.checking import command as checking
from autograder.console import help_texts
from autograder.console.base import BadInput, add_assignment, add_course, add_workers, exit_status, lack, positive
from autograder.corpus import command as corpus
from autograder.environment import command as environment
from autograder.exercises import registry
from autograder.feedback.text import count_text
from autograder.hub import command as hub
from autograder.hunts import command as hunts
from autograder.launch import command as launch
from autograder.maintenance import command as maintenance
from autograder.marking import command as marking
from autograder.nbgrader import config
from autograder.ordering import command as ordering
from autograder.questions import command as questions
from autograder.report import command as report
from autograder.sandbox import SandboxError
from autograder.variants import command as variants
from autograder.viva import command as viva
from tfkit_course import replace_unencodable
from tfkit_course.command_line import add_command


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command; exits with the status that the command's help describes."""
    replace_unencodable()
    arguments = _parser().parse_args(argv)
    where = f"the course {getattr(arguments, 'course', '')} and its gradebook"
    refusals = (registry.UnknownExercise, registry.TwoExercises, benchmark.BenchmarkError)
    sys.exit(exit_status(lambda: arguments.run(arguments), where, *refusals))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="autograder",
        description="Grade students' answers against reference implementations. `autograder COMMAND --help` describes "
        "a command.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND", title="commands")
    checking.add_options(add_command(commands, "check", help_texts.CHECK))
    _grade_parser(add_command(commands, "grade", help_texts.GRADE))
    _verify_parser(add_command(commands, "verify", help_texts.VERIFY))
    _serve_parser(add_command(commands, "serve", help_texts.SERVE))
    report.add_lms_commands(commands)
    report.add_class_commands(commands)
    _add_assignment_commands(commands)
    assistants.add_options(add_command(commands, "mcp", help_texts.MCP))
    benchmark.add_parsers(add_command(commands, "benchmark", help_texts.BENCHMARK))
    environment.add_parsers(add_command(commands, "environment", help_texts.ENVIRONMENT))
    capstone.add(add_command(commands, "capstone", help_texts.CAPSTONE))
    marking.add(commands)
    maintenance.add(commands)
    launch.add(commands)
    hub.add_parsers(add_command(commands, "hub", help_texts.HUB))
    hunts.add_parsers(add_command(commands, "hunts", help_texts.HUNTS))
    ordering.add_options(add_command(commands, "order", help_texts.ORDER))
    variants.add_options(add_command(commands, "variants", help_texts.VARIANTS))
    questions.add_parsers(commands)
    viva.add_parsers(commands)
    add_command(commands, "list", help_texts.LIST).set_defaults(run=_list)
    _doctor_parser(add_command(commands, "doctor", help_texts.DOCTOR))
    corpus.add_options(add_command(commands, "corpus", help_texts.CORPUS))
    return parser


def _add_assignment_commands(commands: Any) -> None:
    lint = add_command(commands, "lint", help_texts.LINT)
    add_course(lint)
    lint.add_argument(
        "assignments", nargs="*", metavar="ASSIGNMENT", help="only these assignments; by default all in source/"
    )
    lint.set_defaults(run=_lint)
    adopt = add_command(commands, "adopt", help_texts.ADOPT)
    adopt.add_argument("notebook", type=Path, metavar="NOTEBOOK.ipynb",
                       help="the notebook, whose file name becomes the assignment's name")  # fmt: skip
    adopt.add_argument(
        "course", type=Path, metavar="COURSE_DIR", help="the course directory; it is created if it does not exist"
    )
    adopt.set_defaults(run=_adopt)


def _grade_parser(grade: argparse.ArgumentParser) -> None:
    add_course(grade)
    add_assignment(grade)
    add_workers(grade, "tcp://host:8786")
    grade.add_argument(
        "--device", choices=("auto", "cpu", "cuda"), help="device to grade on, instead of the course's setting"
    )
    grade.add_argument("--resume", action="store_true", help="continue a run that was stopped or killed")
    grade.add_argument("--regrade", action="store_true",
                       help="grade all submissions again, show what would change, and ask before writing")  # fmt: skip
    grade.add_argument("--yes", action="store_true",
                       help="do not ask before committing changes or using a scheduler without TLS")  # fmt: skip
    grade.add_argument("--take-renamed", action="store_true",
                       help="where a submission's only notebook has another name, such as '03-heads (1).ipynb', "
                       "rename and grade it")  # fmt: skip
    grade.set_defaults(run=_grade)


def _verify_parser(verify: argparse.ArgumentParser) -> None:
    add_course(verify)
    verify.add_argument("assignment", nargs="?", metavar="ASSIGNMENT",
                        help="only this assignment; by default all that are graded")  # fmt: skip
    verify.add_argument("--sample", type=partial(positive, what="submissions"), metavar="N",
                        help="submissions of an assignment, others each time (default: 20; with --upgraded, "
                        "all)")  # fmt: skip
    verify.add_argument("--upgraded", action="store_true",
                        help="take those that were graded with other checks, as by an earlier release, and say who "
                        "would gain or lose points if they were graded again")  # fmt: skip
    add_workers(verify, "tls://host:8786")
    verify.add_argument(
        "--device", choices=("auto", "cpu", "cuda"), help="device to grade on, instead of the course's setting"
    )
    verify.set_defaults(run=_verify)


def _serve_parser(serve: argparse.ArgumentParser) -> None:
    serve.add_argument("courses", nargs="+", type=Path, metavar="COURSE_DIR",
                       help="the nbgrader course directories to serve")  # fmt: skip
    serve.add_argument("--assignment", action="append", default=[], dest="assignments", metavar="NAME",
                       help="only this assignment (may be repeated); by default all in the gradebook")  # fmt: skip
    add_workers(serve, "tls://host:8786")
    serve.add_argument(
        "--device", choices=("auto", "cpu", "cuda"), help="device to grade on, instead of the courses' setting"
    )
    serve.add_argument("--every", type=float, default=5.0, metavar="SECONDS",
                       help="seconds between two polls of the exchange (default: %(default)s)")  # fmt: skip
    serve.add_argument(
        "--once", action="store_true", help="exit when no submission is left to grade and no feedback to release"
    )
    serve.add_argument(
        "--passback", action="store_true", help="also send totals to the LMS, as `autograder passback` does"
    )
    serve.add_argument("--listen", default="", metavar="HOST:PORT",
                       help="answer at /health and /metrics (Prometheus), such as 127.0.0.1:9321; a service of a Hub "
                       "answers at its own address")  # fmt: skip
    serve.add_argument("--log-format", choices=("text", "json"), default="text",
                       help="json: each line an object with time, level and message (default: "
                       "%(default)s)")  # fmt: skip
    serve.set_defaults(run=_serve)


def _doctor_parser(doctor: argparse.ArgumentParser) -> None:
    doctor.add_argument("--attack", type=Path, nargs="?", const=False, metavar="COURSE_DIR",
                        help="attack the sandbox instead: let attackers hand in to a course that is made for it, "
                        "with the sandbox, limits and packages of COURSE_DIR if that is given")  # fmt: skip
    doctor.add_argument("--all", action="store_true",
                        help="with --attack: every attack, also those that take long or that would harm this machine "
                        "if the sandbox did not hold")  # fmt: skip
    doctor.set_defaults(run=_doctor)


def _grade(arguments: argparse.Namespace) -> int:
    try:
        from autograder.cluster import command
    except ImportError as error:
        raise BadInput(lack("grade", error, "grading", "cluster")) from error
    from autograder.console.output import make_console

    names = ("course", "assignment", "workers", "scheduler", "device", "resume", "regrade", "yes", "take_renamed")
    options = command.Options(**{name: getattr(arguments, name) for name in names})
    try:
        return command.grade(options, make_console())
    except (command.BadCourse, command.CourseBusy, command.PoolError) as error:
        raise BadInput(str(error)) from error


def _verify(arguments: argparse.Namespace) -> int:
    try:
        from autograder.cluster import command, verify
    except ImportError as error:
        raise BadInput(lack("verify", error, "grading", "cluster")) from error
    from autograder.console.output import make_console

    names = ("course", "assignment", "sample", "upgraded", "workers", "scheduler", "device")
    options = verify.VerifyOptions(**{name: getattr(arguments, name) for name in names})
    try:
        return verify.verify(options, make_console())
    except (command.BadCourse, command.CourseBusy, command.PoolError) as error:
        raise BadInput(str(error)) from error


def _serve(arguments: argparse.Namespace) -> int:
    try:
        from autograder.serve import port

        opened = port.open_for_hub()  # before the rest is loaded: the Hub waits for an answer
        from autograder.serve import command
    except ImportError as error:
        raise BadInput(lack("serve", error, "grading", "cluster")) from error
    except port.PortError as error:
        raise BadInput(str(error)) from error
    from autograder.console.output import make_console

    names = ("workers", "scheduler", "device", "every", "once", "passback", "listen")
    options = command.ServeOptions(
        tuple(arguments.courses), tuple(arguments.assignments), **{name: getattr(arguments, name) for name in names}
    )
    try:
        return command.serve(options, make_console(log=True, json=arguments.log_format == "json"), opened)
    except (command.BadCourse, command.PoolError, port.PortError, OSError) as error:
        raise BadInput(str(error)) from error


def _lint(arguments: argparse.Namespace) -> int:
    try:
        from autograder.lint import command
    except ImportError as error:
        raise BadInput(lack("lint", error, "grading")) from error
    count = 0
    try:
        for assignment in arguments.assignments or command.assignments(arguments.course):
            for one in command.lint(arguments.course, assignment):
                fault = isinstance(one, command.Fault)
                print(f"✗ {one}" if fault else one, flush=True)
                count += fault
    except (command.BadCourse, SandboxError) as error:
        raise BadInput(str(error)) from error
    print(count_text(count, "fault") if count else "no faults")
    return 1 if count else 0


def _adopt(arguments: argparse.Namespace) -> int:
    try:
        from autograder.own_tests import adopt
    except ImportError as error:
        raise BadInput(lack("adopt", error, "grading")) from error
    try:
        source, report = adopt.adopt(arguments.notebook, arguments.course)
        written = config.install(arguments.course)
    except adopt.AdoptionError as error:
        raise BadInput(str(error)) from error
    except OSError as error:
        raise BadInput(f"{arguments.course} cannot be written: {error.strerror}") from error
    for line in report.lines(source.stem):
        print(line)
    for path in (source, *written):
        print(f"wrote {path}")
    if not sandbox.SYSTEM.startswith("linux"):
        print("not linted: `autograder lint` runs stub and solution in a sandbox, which needs Linux")
        return 0
    arguments.assignments = [source.stem]
    return _lint(arguments)


def _list(arguments: argparse.Namespace) -> int:
    for exercise in registry.exercises():
        print(exercise.id)
    return 0


def _doctor(arguments: argparse.Namespace) -> int:
    if arguments.attack is not None:
        return _attack(arguments)
    if arguments.all:
        raise BadInput("--all belongs to --attack: `autograder doctor --attack --all`")
    lines, sound = doctor.report()
    print("\n".join(lines))
    return 0 if sound else 2


def _attack(arguments: argparse.Namespace) -> int:
    try:
        from autograder.attacks import command
    except ImportError as error:
        raise BadInput(lack("doctor --attack", error, "grading")) from error
    return command.run(arguments)
