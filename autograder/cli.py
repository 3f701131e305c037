"""The `autograder` command. Each subcommand imports what it needs, so that `list` is instant."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from autograder.benchmark import command as benchmark
from autograder.capstone import command as capstone
from autograder.checking import command as checking
from autograder.console import help_texts
from autograder.console.base import BadInput, exit_status
from autograder.console.help_format import add_command
from autograder.exercises import registry
from autograder.marking import command as marking
from tfkit_course import install, replace_unencodable

RECIPES = ("github-classroom", "gradescope-autograder")  # these export no scores, but the checks for another grader
POSIX = ("fcntl", "grp", "pwd", "resource", "termios")  # modules of Python's that Windows does not have


def _lack(command: str, error: ImportError, *extras: str) -> str:
    """Why a command cannot be loaded: a module that only POSIX has, or a package of these extras."""
    if error.name in POSIX:
        return f"`autograder {command}` needs Linux, or WSL 2 on Windows: Python has no {error.name} on this system"
    return f"`autograder {command}` needs {error.name}: {install(*extras)}"


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
    _add_lms_commands(commands)
    _add_class_commands(commands)
    _add_assignment_commands(commands)
    _mcp_parser(add_command(commands, "mcp", help_texts.MCP))
    benchmark.add_parsers(add_command(commands, "benchmark", help_texts.BENCHMARK))
    capstone.add(add_command(commands, "capstone", help_texts.CAPSTONE), BadInput)
    marking.add(commands, BadInput)
    add_command(commands, "list", help_texts.LIST).set_defaults(run=_list)
    add_command(commands, "doctor", help_texts.DOCTOR).set_defaults(run=_doctor)
    _corpus_parser(add_command(commands, "corpus", help_texts.CORPUS))
    return parser


def _add_course(command: argparse.ArgumentParser) -> None:
    command.add_argument("course", type=Path, metavar="COURSE_DIR", help=help_texts.COURSE_DIR)


def _add_assignment(command: argparse.ArgumentParser) -> None:
    command.add_argument("assignment", metavar="ASSIGNMENT", help=help_texts.ASSIGNMENT)


def _add_workers(command: argparse.ArgumentParser, address: str) -> None:
    where = command.add_mutually_exclusive_group()
    where.add_argument("--workers", type=_positive, metavar="N", help=help_texts.WORKERS)
    where.add_argument("--scheduler", metavar="ADDRESS", help=f"use the workers of a Dask scheduler, such as {address}")


def _add_lms_commands(commands: Any) -> None:
    _export_parser(add_command(commands, "export", help_texts.EXPORT))
    passback = add_command(commands, "passback", help_texts.PASSBACK)
    _add_course(passback)
    _add_assignment(passback)
    passback.add_argument("--again", action="store_true", help="also send scores that the LMS has accepted already")
    passback.set_defaults(run=_passback)
    roster = add_command(commands, "roster", help_texts.ROSTER)
    _add_course(roster)
    roster.set_defaults(run=_roster)


def _add_class_commands(commands: Any) -> None:
    for name, text in help_texts.PAGES.items():
        page = add_command(commands, name, text)
        _add_course(page)
        _add_assignment(page)
        page.add_argument(
            "-o", "--output", type=Path, required=True, metavar="FILE.html", help="the page to write, a new file"
        )
        if name == "similarity":
            page.add_argument("--operations", action="store_true",
                              help="also run the answers in the sandbox, and compare tensor operations")  # fmt: skip
        page.set_defaults(run=_page, page=name)
    history = add_command(commands, "history", help_texts.HISTORY)
    _add_course(history)
    _add_assignment(history)
    history.add_argument("students", nargs="*", metavar="STUDENT", help="only these students; by default all")
    history.set_defaults(run=_history)
    _misconceptions_parser(add_command(commands, "misconceptions", help_texts.MISCONCEPTIONS))


def _add_assignment_commands(commands: Any) -> None:
    lint = add_command(commands, "lint", help_texts.LINT)
    _add_course(lint)
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


def _corpus_parser(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "exercises", nargs="*", metavar="ID", help="exercise ids, by default all; or `show ID NAME` to print one answer"
    )
    command.add_argument(
        "--report", action="store_true", help="list each answer that was misjudged, and measure how mistakes are named"
    )
    command.add_argument("--mutants", action="store_true", help="also test mutants of the references")
    command.add_argument("--seed", type=int, default=0, metavar="N",
                         help="seed of the random inputs (default: %(default)s)")  # fmt: skip
    command.add_argument("--seeds", type=_positive, metavar="N",
                         help="only ask each answer in a sandbox at N seeds, from --seed on, and name those whose "
                              "points depend on the seed")  # fmt: skip
    command.add_argument("--workers", type=_positive, default=1, metavar="N",
                         help="exercises that are measured at the same time (default: %(default)s)")  # fmt: skip
    command.add_argument("--results", type=Path, metavar="FILE.jsonl",
                         help="keep each exercise's results in this file; those it already has for the same options "
                              "and unchanged code are not measured again")  # fmt: skip
    command.set_defaults(run=_corpus)


def _misconceptions_parser(command: argparse.ArgumentParser) -> None:
    _add_course(command)
    command.add_argument(
        "assignments", nargs="*", metavar="ASSIGNMENT", help="only these assignments; by default all that are graded"
    )
    command.add_argument("--kinds", action="store_true",
                         help="include answers for which a kind of mistake is known, but no misconception")  # fmt: skip
    command.add_argument("--name", nargs=2, metavar=("GROUP", "SENTENCE"),
                         help="store a group's behaviour with the sentence that verdicts will show for it")  # fmt: skip
    command.add_argument(
        "--called",
        metavar="NAME",
        help="with --name: the misconception's name; by default it is made from the sentence",
    )
    command.add_argument(
        "--export", metavar="EXERCISE/NAME", help="print a stored misconception as a table of wrong.toml"
    )
    command.add_argument(
        "-o", "--output", type=Path, metavar="FILE.html", help="write the groups as an HTML page to a new file"
    )
    command.set_defaults(run=_misconceptions)


def _mcp_parser(command: argparse.ArgumentParser) -> None:
    command.add_argument("course", nargs="?", type=Path, metavar="COURSE",
                         help="a course directory or a student's folder of notebooks, for rules and log")  # fmt: skip
    command.add_argument("--trust", action="store_true", help=help_texts.TRUST)
    command.add_argument("--log", action="store_true",
                         help="print the logged requests of assistants instead of serving")  # fmt: skip
    command.set_defaults(run=_mcp)


def _grade_parser(grade: argparse.ArgumentParser) -> None:
    _add_course(grade)
    _add_assignment(grade)
    _add_workers(grade, "tcp://host:8786")
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
    _add_course(verify)
    verify.add_argument("assignment", nargs="?", metavar="ASSIGNMENT",
                        help="only this assignment; by default all that are graded")  # fmt: skip
    verify.add_argument("--sample", type=partial(_positive, what="submissions"), default=20, metavar="N",
                        help="submissions of an assignment, others each time (default: %(default)s)")  # fmt: skip
    _add_workers(verify, "tls://host:8786")
    verify.add_argument(
        "--device", choices=("auto", "cpu", "cuda"), help="device to grade on, instead of the course's setting"
    )
    verify.set_defaults(run=_verify)


def _serve_parser(serve: argparse.ArgumentParser) -> None:
    serve.add_argument("courses", nargs="+", type=Path, metavar="COURSE_DIR",
                       help="the nbgrader course directories to serve")  # fmt: skip
    serve.add_argument("--assignment", action="append", default=[], dest="assignments", metavar="NAME",
                       help="only this assignment (may be repeated); by default all in the gradebook")  # fmt: skip
    _add_workers(serve, "tls://host:8786")
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
    serve.set_defaults(run=_serve)


def _export_parser(export: argparse.ArgumentParser) -> None:
    _add_course(export)
    _add_assignment(export)
    formats = ("canvas", "moodle", "gradescope", "csv", *RECIPES)
    export.add_argument("--to", choices=formats, required=True, metavar="FORMAT", help=f"one of {', '.join(formats)}")
    export.add_argument("--per-question", action="store_true", help="one column or test per question")
    export.add_argument(
        "--partial", action="store_true", help="write totals of the questions marked so far, instead of blanks"
    )
    export.add_argument("-o", "--output", type=Path, required=True, metavar="FILE",
                        help="a new file; for gradescope and github-classroom a new folder")  # fmt: skip
    export.add_argument("--package", metavar="WHEEL_OR_URL",
                        help="the package that the recipes install; by default this one's source")  # fmt: skip
    export.add_argument("--torch-index", default="", metavar="URL",
                        help="for gradescope-autograder: the package index with PyTorch's CPU build")  # fmt: skip
    export.set_defaults(run=_export)


def _positive(text: str, what: str = "workers") -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of {what}")
    return int(text)


def _grade(arguments: argparse.Namespace) -> int:
    try:
        from autograder.cluster import command
    except ImportError as error:
        raise BadInput(_lack("grade", error, "grading", "cluster")) from error
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
        raise BadInput(_lack("verify", error, "grading", "cluster")) from error
    from autograder.console.output import make_console

    names = ("course", "assignment", "sample", "workers", "scheduler", "device")
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
        raise BadInput(_lack("serve", error, "grading", "cluster")) from error
    except port.PortError as error:
        raise BadInput(str(error)) from error
    from autograder.console.output import make_console

    names = ("workers", "scheduler", "device", "every", "once", "passback")
    options = command.ServeOptions(
        tuple(arguments.courses), tuple(arguments.assignments), **{name: getattr(arguments, name) for name in names}
    )
    try:
        return command.serve(options, make_console(log=True), opened)
    except (command.BadCourse, command.PoolError, OSError) as error:
        raise BadInput(str(error)) from error


def _export(arguments: argparse.Namespace) -> int:
    try:
        from autograder.report import export, recipes
    except ImportError as error:
        raise BadInput(_lack("export", error, "grading")) from error
    try:
        if arguments.to in RECIPES:
            where = arguments.course, arguments.assignment, arguments.to, arguments.output
            recipes.write(*where, arguments.package, arguments.torch_index)
            print(f"wrote {arguments.output}")
            return 0
        scores = export.read(arguments.course, arguments.assignment)
        blank = export.write(scores, arguments.to, arguments.output, arguments.per_question, arguments.partial)
    except export.ExportError as error:
        raise BadInput(str(error)) from error
    for line in [*scores.warnings, *blank]:
        print(f"autograder: {line}", file=sys.stderr)
    print(f"wrote {arguments.output}")
    return 0


def _passback(arguments: argparse.Namespace) -> int:
    try:
        from autograder.cluster import scores
        from autograder.report import lti
    except ImportError as error:
        raise BadInput(_lack("passback", error, "grading", "lti")) from error
    try:
        found = scores.read(arguments.course, arguments.assignment)
        done = lti.send(arguments.course, found, arguments.again)
    except scores.ExportError as error:
        raise BadInput(str(error)) from error
    for line in found.warnings:
        print(f"autograder: {line}", file=sys.stderr)
    there = f"; {len(done.already_sent)} have not changed since they were accepted" if done.already_sent else ""
    print(f"{len(done.sent)} scores of {arguments.assignment} were accepted{there}")
    if done.unknown:
        print(f"autograder: the LMS course has no member {', '.join(done.unknown)}: ids or e-mail addresses must "
              "match those in the gradebook", file=sys.stderr)  # fmt: skip
    return 2 if done.unknown else 0


def _roster(arguments: argparse.Namespace) -> int:
    try:
        from autograder.cluster import scores
        from autograder.report import lti
    except ImportError as error:
        raise BadInput(_lack("roster", error, "grading", "lti")) from error
    try:
        added = lti.enrol(arguments.course)
    except scores.ExportError as error:
        raise BadInput(str(error)) from error
    print(f"{len(added)} students were added to the gradebook{': ' if added else ''}{', '.join(added)}")
    return 0


def _report(course: Path, assignment: str) -> str:
    from autograder.cluster import history, scores
    from autograder.report import attempts, group, page

    students = group.read(course, assignment)
    try:
        found = scores.read(course, assignment)
    except scores.ExportError:  # graded notebooks without a gradebook
        found = None
    ways, verified = (
        attempts.full_marks(history.read(course, assignment)),
        history.verifications(course, assignment),
    )
    return page.page(assignment, students, ways, found, verified)


def _similarity(course: Path, assignment: str, operations: bool) -> str:
    from autograder.report import answers, similar, similar_page

    written, stubs = answers.read(course, assignment)
    same = None
    if operations:
        from autograder.report import operations as performed  # it imports torch

        same = performed.matching_pairs(performed.read(course, assignment))
    known = similar.similar_to_known(written, answers.known_answers(stubs), stubs)
    return similar_page.page(assignment, written, similar.compare(written, stubs), same, known)


def _page(arguments: argparse.Namespace) -> int:
    try:
        from autograder.cluster.course import BadCourse
    except ImportError as error:
        raise BadInput(_lack(arguments.page, error, "grading")) from error
    from autograder.feedback.files import write_new
    from autograder.sandbox import SandboxError

    if arguments.output.exists():  # refuse now, before some minutes of work
        raise BadInput(f"{arguments.output} exists: name a new file, or delete it")
    try:
        where = arguments.course, arguments.assignment
        text = _similarity(*where, arguments.operations) if arguments.page == "similarity" else _report(*where)
        write_new(arguments.output, text)
    except (BadCourse, SandboxError) as error:
        raise BadInput(str(error)) from error
    except FileExistsError:
        raise BadInput(f"{arguments.output} exists: name a new file, or delete it") from None
    except OSError as error:
        raise BadInput(f"{arguments.output} cannot be written: {error.strerror}") from None
    print(f"wrote {arguments.output}")
    return 0


def _history(arguments: argparse.Namespace) -> int:
    try:
        from autograder.cluster import history
    except ImportError as error:
        raise BadInput(_lack("history", error, "grading")) from error
    from autograder.console.output import make_console

    try:
        attempts = history.read(arguments.course, arguments.assignment)
    except history.BadCourse as error:
        raise BadInput(str(error)) from error
    known = {one.student for one in attempts}
    if not attempts or (unknown := [name for name in arguments.students if name not in known]):
        who = f" of {unknown[0]}" if attempts else ""
        raise BadInput(f"no attempt{who} at {arguments.assignment} is stored: `autograder grade` stores them")
    wanted = set(arguments.students) or known
    chosen = [one for one in attempts if one.student in wanted]
    make_console().print(history.table(arguments.assignment, chosen, _totals(arguments)))
    return 0


def _totals(arguments: argparse.Namespace) -> dict[str, str]:
    """Each student's total in the gradebook; empty if there are records but no gradebook."""
    from autograder.cluster import history, scores

    try:
        return history.totals(scores.read(arguments.course, arguments.assignment))
    except scores.ExportError:
        return {}


def _misconceptions(arguments: argparse.Namespace) -> int:
    try:
        from autograder.report import unexplained, unexplained_command
    except ImportError as error:
        raise BadInput(_lack("misconceptions", error, "grading")) from error
    from autograder.diagnosis.misconceptions import BadMisconceptions
    from autograder.sandbox import SandboxError

    try:
        return unexplained_command.run(arguments)
    except (unexplained.BadCourse, unexplained.UnexplainedError, BadMisconceptions, SandboxError) as error:
        raise BadInput(str(error)) from error


def _lint(arguments: argparse.Namespace) -> int:
    try:
        from autograder.lint import command
    except ImportError as error:
        raise BadInput(_lack("lint", error, "grading")) from error
    from autograder.sandbox import SandboxError

    count = 0
    try:
        for assignment in arguments.assignments or command.assignments(arguments.course):
            for one in command.lint(arguments.course, assignment):
                fault = isinstance(one, command.Fault)
                print(f"✗ {one}" if fault else one, flush=True)
                count += fault
    except (command.BadCourse, SandboxError) as error:
        raise BadInput(str(error)) from error
    print(f"{count} fault{'s' * (count != 1)}" if count else "no faults")
    return 1 if count else 0


def _adopt(arguments: argparse.Namespace) -> int:
    from autograder import sandbox

    try:
        from autograder.nbgrader import config
        from autograder.own_tests import adopt
    except ImportError as error:
        raise BadInput(_lack("adopt", error, "grading")) from error
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


def _mcp(arguments: argparse.Namespace) -> int:
    from autograder.assistants import log, rules

    try:
        found = rules.read_rules(arguments.course)
        if arguments.log:
            return _show_log(log.read(found.log), found.log)
        try:
            from autograder.assistants.server import make_server
        except ImportError as error:
            raise BadInput(_lack("mcp", error, "grading", "mcp")) from error
        with suppress(KeyboardInterrupt):  # the user ends it in the terminal
            make_server(found, arguments.trust).run("stdio")
    except (rules.BadRules, log.LogError) as error:
        raise BadInput(str(error)) from error
    return 0


def _show_log(entries: Sequence[Any], file: Path) -> int:
    from autograder.assistants import log
    from autograder.console.output import make_console

    if not entries:
        raise BadInput(f"nothing is logged in {file}: no assistant has asked anything yet")
    make_console().print(log.table(entries))
    return 0


def _list(arguments: argparse.Namespace) -> int:
    for exercise in registry.exercises():
        print(exercise.id)
    return 0


def _doctor(arguments: argparse.Namespace) -> int:
    from autograder.doctor import report

    lines, sound = report()
    print("\n".join(lines))
    return 0 if sound else 2


def _corpus(arguments: argparse.Namespace) -> int:
    if arguments.exercises[:1] == ["show"]:
        return _show(arguments.exercises[1:])
    if arguments.seeds:
        return _stability(arguments)
    from autograder.checks.mutation import total
    from autograder.corpus import diagnosis as measure
    from autograder.corpus.goals import goal_lines, goals
    from autograder.corpus.judge import combine_scores, lines_of

    measured = []
    for one in _measure_each(_exercise_ids(arguments), arguments):
        measured.append(one)
        for score in filter(None, one):
            _tell(score, arguments.report)
    scores, named, diagnoses, mutants = ([one for one in column if one] for column in zip(*measured, strict=True))
    print(combine_scores(scores).line)
    if named:
        print(lines_of(named).line)
        print(measure.total(diagnoses).line)
        print(goal_lines(goals(combine_scores(scores), lines_of(named), measure.total(diagnoses))))
    if mutants:
        print(total(mutants).line)
    return 0 if all(score.sound for score in [*scores, *mutants]) else 1


def _exercise_ids(arguments: argparse.Namespace) -> list[str]:
    return [registry.find(name).id for name in arguments.exercises] or [one.id for one in registry.exercises()]


def _stability(arguments: argparse.Namespace) -> int:
    """Ask each collected answer in a box at many seeds; 1 if a judgement depends on the seed or is wrong."""
    from autograder.checks.stability import combine

    if arguments.report or arguments.mutants:
        raise BadInput("--seeds measures points alone: leave out --report and --mutants")
    measured = []
    for (stability,) in _measure_each(_exercise_ids(arguments), arguments):
        measured.append(stability)
        print(stability.line, flush=True)
        for line in [*stability.complaints, *(f"(other points) {note}" for note in stability.notes)]:
            print(f"  {line}", flush=True)
    print(combine(measured).line)
    return 0 if all(stability.sound for stability in measured) else 1


def _measure_each(names: list[str], arguments: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    """What `_measure` says of each exercise, in their order; those in the results file are not measured again."""
    file = _results_file(arguments)
    found = {name: file.find(registry.find(name)) for name in names} if file else {}
    new = _measure_new([name for name in names if not found.get(name)], arguments)
    done = {name: results for name, results in found.items() if results}
    for name in names:
        while name not in done:  # with workers another may be the first to be done: its results are kept at once
            measured, results = next(new)
            done[measured] = results
            if file:
                file.append(registry.find(measured), results)
        yield done[name]


def _results_file(arguments: argparse.Namespace) -> Any:
    """The results file that was named, or None."""
    if arguments.results is None:
        return None
    from autograder.checks.stability import Stability
    from autograder.corpus.results_file import CorpusResultsFile, ResultsFileError

    options = {name: getattr(arguments, name) for name in ("seed", "report", "mutants")}
    try:
        if arguments.seeds:
            return CorpusResultsFile(arguments.results, options | {"seeds": arguments.seeds}, (Stability,))
        return CorpusResultsFile(arguments.results, options)
    except (ResultsFileError, OSError) as error:
        raise BadInput(str(error)) from None


def _measure_new(names: list[str], arguments: argparse.Namespace) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Names and what `_measure` says of them, each as soon as it is done; several at a time with workers."""
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    each = partial(_measure, seed=arguments.seed, report=arguments.report, mutants=arguments.mutants)
    if arguments.seeds:
        each = partial(_measure_seeds, seeds=range(arguments.seed, arguments.seed + arguments.seeds))
    if arguments.workers < 2:
        yield from ((name, each(name)) for name in names)
        return
    with ProcessPoolExecutor(arguments.workers, get_context("spawn"), _one_thread) as pool:
        waiting = {pool.submit(each, name): name for name in names}
        try:
            yield from ((waiting[future], future.result()) for future in as_completed(waiting))
        finally:
            for future in waiting:
                future.cancel()


def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)


def _measure(name: str, seed: int, report: bool, mutants: bool) -> tuple[Any, ...]:
    """An exercise's score, first wrong lines, diagnosis and mutants; None for what is not asked for."""
    from autograder.checks.mutation import mutation_score
    from autograder.corpus.diagnosis import measure_diagnosis
    from autograder.corpus.judge import ask_reference, judge, lines

    exercise = registry.find(name)
    question_sets = ask_reference(exercise, seed)
    return (
        judge(exercise, question_sets),
        lines(exercise, question_sets) if report else None,
        measure_diagnosis(exercise, question_sets, seed) if report else None,
        mutation_score(exercise, question_sets) if mutants else None,
    )


def _measure_seeds(name: str, seeds: Sequence[int]) -> tuple[Any, ...]:
    """The stability of an exercise's answers, each asked in this process's sandbox."""
    from autograder.checks.stability import measure_stability
    from autograder.sandbox import SandboxError, choose

    _one_thread()
    try:
        return (measure_stability(registry.find(name), seeds, choose()),)
    except SandboxError as error:
        raise BadInput(str(error)) from error


def _show(wanted: list[str]) -> int:
    """Print the whole of one collected answer."""
    from autograder.exercises.answers import answer

    if len(wanted) != 2:
        raise BadInput("`autograder corpus show` needs two names: the exercise's and the answer's")
    try:
        print(answer(registry.find(wanted[0]), wanted[1]).read_text(encoding="utf-8"), end="")
    except LookupError as error:
        raise BadInput(error.args[0]) from None
    return 0


def _tell(score: Any, report: bool) -> None:
    print(score.line, flush=True)
    for line in [*getattr(score, "complaints", ()), *score.notes, *getattr(score, "edge_shares", ())] if report else ():
        print(f"  {line}")
