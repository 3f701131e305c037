"""A course's own misconceptions: behaviours of its class that no collected mistake explains, each with a sentence.

`misconceptions.toml` in the course directory has a table for each, written by `autograder misconceptions`:

    ["masks.softmax".mask_as_factor]
    sentence = "A hidden score has to be minus infinity: a factor of 0 makes it 0, and softmax gives 0 its share."
    seed = 0            # the seed of the questions
    answers = '''…'''   # its answers to some of them, as JSON; "right" for right ones
    code = '''…'''      # one student's answer, which is never run from this file

A failed answer that no collected mistake explains is asked these questions in its box. If it gives the same answers,
that behaviour is its misconception. A copy without the code is released with the notebook, for students' checks.
"""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.exercises import registry
from autograder.exercises.edits import toml_text

if TYPE_CHECKING:
    from autograder.api import Exercise
    from autograder.checks.probe import Case, Check, Finding, Probe

FILE = "misconceptions.toml"
WRONG = "wrong"  # key of the error message that replaces invalid entries
SEED = 0
MAX_BYTES = 4 << 20
MAX_WRONG, MAX_RIGHT = 12, 12  # answers that are stored for a behaviour
MAX_NUMBERS = 512  # of one answer
HEAD = """\
# This course's own misconceptions, written by `autograder misconceptions`. A sentence may be changed; a table that is
# deleted is forgotten. The code in here is a student's: it does not belong in what is released.
"""

# {"name", "sentence", "seed", "answers": [{"check", "probe", "asked", "says"}], and maybe "code"}; "asked" is the
# fingerprint of the question, which entries of earlier versions lack
Entry = dict[str, Any]
Entries = Mapping[str, Sequence[Entry]]  # by exercise


class BadMisconceptions(ValueError):
    """A misconceptions.toml that cannot be read; the message says which entry is wrong, and what to do."""


def read(path: Path) -> dict[str, list[Entry]]:
    """The entries of the file by exercise; none without a file. Raises BadMisconceptions, with one line."""
    if not path.is_file():
        return {}
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadMisconceptions(f"{path} has more than {MAX_BYTES >> 20} MiB: delete tables in it")
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadMisconceptions(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
    for exercise, named in tables.items():
        if not isinstance(named, dict) or not all(isinstance(entry, dict) for entry in named.values()):
            raise BadMisconceptions(f'{path}: {exercise} stands outside any table: write ["{exercise}".its_name]')
    return {
        exercise: [_entry(f"{path}: {exercise}, {name}", name, entry) for name, entry in named.items()]
        for exercise, named in tables.items()
    }


def _entry(where: str, name: str, entry: Mapping[str, Any]) -> Entry:
    sentence, seed, code = entry.get("sentence"), entry.get("seed"), entry.get("code", "")
    if not isinstance(sentence, str) or not sentence.strip():
        raise BadMisconceptions(f"{where}: sentence must be a text, what the student reads")
    if not isinstance(seed, int) or isinstance(seed, bool) or not isinstance(code, str):
        raise BadMisconceptions(f"{where}: seed must be a whole number, and code a text")
    try:
        answers = json.loads(entry.get("answers", ""))
    except (TypeError, ValueError, RecursionError):
        answers = None
    if not isinstance(answers, list) or not answers or not all(map(_is_answer, answers)):
        raise BadMisconceptions(f"{where}: answers were changed: name this behaviour again")
    kept = {"name": name, "sentence": sentence.strip(), "seed": seed, "answers": answers}
    return {**kept, "code": code.strip("\n")} if code else kept


def _is_answer(one: Any) -> bool:
    if not isinstance(one, dict) or set(one) | {"asked"} != {"check", "probe", "asked", "says"}:
        return False
    if not isinstance(one.get("asked", ""), str):
        return False
    return isinstance(one["check"], str) and isinstance(one["probe"], int) and not isinstance(one["probe"], bool)


def misconception_options(folder: Path | None) -> list[str]:
    """The options of `autograder check` for the misconceptions beside a notebook; empty if there are none."""
    return ["--known", str(folder)] if folder is not None and (folder / FILE).is_file() else []


def setting(path: Path) -> dict[str, Any]:
    """As `read`, without the code, for a configuration file, which must not raise, since nbgrader would then ignore all
    of it. An error is stored, and `check_entries` raises it before anything is graded."""
    try:
        return {exercise: [_public(entry) for entry in entries] for exercise, entries in read(path).items()}
    except BadMisconceptions as error:
        return {WRONG: str(error)}


def check_entries(given: Mapping[str, Any]) -> Entries:
    """The result of `setting` as entries. Raises BadMisconceptions if an entry is invalid."""
    if WRONG in given:
        raise BadMisconceptions(str(given[WRONG]))
    return given


def _public(entry: Entry) -> Entry:
    """The entry without the code."""
    return {key: value for key, value in entry.items() if key != "code"}


def write(path: Path, entries: Entries, *, code: bool = True) -> None:
    """Rewrite the whole file. `code`: with the students' code, which must not be released."""
    tables = [_table(exercise, one, code) for exercise, named in sorted(entries.items()) for one in named]
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_text(
        "\n".join([HEAD if code else "# This course's own misconceptions, without the students' code.\n", *tables]),
        encoding="utf-8",
    )
    new.replace(path)


def _table(exercise: str, entry: Entry, code: bool) -> str:
    lines = ",\n".join(json.dumps(one, ensure_ascii=True).replace("'", "\\u0027") for one in entry["answers"])
    parts = [
        f'["{exercise}".{entry["name"]}]',
        f"sentence = {json.dumps(entry['sentence'], ensure_ascii=False)}",
        f"seed = {entry['seed']}",
        f"answers = '''\n[{lines}]'''",
    ]
    parts += [f"code = {toml_text(entry['code'])}"] if code and entry.get("code") else []
    return "\n".join(parts) + "\n"


def describe_findings(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """A behaviour in its stored form: the answers to the smallest questions, failed ones first, "right" for right ones.

    [] if no wrong answer can be stored, such as a module or thousands of numbers.
    """
    from autograder.checks.probe import distinguishing_answers

    sentences = [
        (
            reply.probe.case.size(),
            {
                "check": check.name,
                "probe": place,
                "asked": fingerprint(reply.probe.case),
                "says": "right" if reply.actual is reply.expected else tree,
            },
        )
        for check, place, reply in distinguishing_answers(findings)
        if (tree := _encoded(reply.actual)) is not None
    ]
    ordered = [one for _, one in sorted(sentences, key=lambda pair: pair[0])]
    wrong = [one for one in ordered if one["says"] != "right"][:MAX_WRONG]
    return wrong + [one for one in ordered if one["says"] == "right"][:MAX_RIGHT] if wrong else []


def recognise(exercise: Exercise, entries: Sequence[Entry], student: Any) -> Entry | None:
    """The first of these behaviours that the student's code shows when it is asked the stored questions again."""
    return next((entry for entry in entries if _behaves(exercise, entry, student)), None)


def find_outdated(exercise: Exercise, entries: Sequence[Entry]) -> list[Entry]:
    """Those that are recognised no longer, because the exercise's checks ask other questions than they did."""
    return [entry for entry in entries if None in _stored_questions(exercise, entry)]


def _behaves(exercise: Exercise, entry: Entry, student: Any) -> bool:
    from autograder.checks.reference import reference_of

    reference = reference_of(exercise)
    for question in _stored_questions(exercise, entry):
        if question is None or not _says(*question, student, reference):
            return False
    return True


def _stored_questions(exercise: Exercise, entry: Entry) -> Iterator[tuple[Probe, Check, Mapping[str, Any]] | None]:
    """The questions whose answers are stored, each with its check and the stored answer; None where it is lost."""
    drawn: dict[str, tuple[Check, Sequence[Probe]] | None] = {}
    for stored in entry["answers"]:
        name = stored["check"]
        if name not in drawn:
            drawn[name] = _check_of(exercise, entry, name)
        found = drawn[name]
        yield (found[1][stored["probe"]], found[0], stored) if found else None


def _check_of(exercise: Exercise, entry: Entry, name: str) -> tuple[Check, Sequence[Probe]] | None:
    """The check that still asks the stored questions, with them. Questions depend on the check's name, so those of one
    that was renamed are drawn by the name that is stored."""
    from autograder.checks.probe import Draw
    from autograder.checks.reference import reference_of

    reference, own = reference_of(exercise), [answer for answer in entry["answers"] if answer["check"] == name]
    known = all("asked" in answer for answer in own)  # else only the name says which check it was
    checks = [check for check in registry.check_function(exercise)() if known or check.name == name]
    for check in sorted(checks, key=lambda check: check.name != name):
        probes = check.probes(Draw(f"{entry['seed']}/{exercise.id}", name, reference=reference), reference)
        if all(_is_question(answer, probes) for answer in own):
            return check, probes
    return None


def _is_question(stored: Mapping[str, Any], probes: Sequence[Probe]) -> bool:
    index = stored["probe"]
    return 0 <= index < len(probes) and stored.get("asked") in (None, fingerprint(probes[index].case))


def fingerprint(case: Case) -> str:
    """A short text that is the same for the same question on every machine, where random numbers may differ by their
    last bits: of floating tensors only the shape and the first number, to two decimals, count."""
    parts = (case.symbol, case.method, case.init, case.args, case.kwargs, case.state)
    return hashlib.sha256(json.dumps(_outline(parts)).encode()).hexdigest()[:12]


def _outline(value: Any) -> Any:
    if hasattr(value, "is_floating_point"):
        rough = value.is_floating_point() or value.is_complex()
        numbers = value.detach().flatten()[: 1 if rough else None].tolist()
        return [str(value.dtype), list(value.shape), [_outline(one) for one in numbers] if rough else numbers]
    if isinstance(value, Mapping):
        return [[str(key), _outline(one)] for key, one in value.items()]
    if isinstance(value, list | tuple):
        return [_outline(one) for one in value]
    if isinstance(value, float):
        return f"{value:.2f}" if math.isfinite(value) else str(value)
    return value if isinstance(value, bool | int | str | None) else type(value).__name__


def _says(probe: Probe, check: Check, stored: Mapping[str, Any], student: Any, reference: Any) -> bool:
    from autograder.checks.compare import agree, compare_form, values_agree
    from autograder.checks.probe import NotRun, observe

    try:
        actual = observe(student, probe)
        if stored["says"] != "right":
            return agree(_decoded(stored["says"]), actual, probe.tolerance)
        expected = probe.ask(reference)
    except (NotRun, LookupError, TypeError, ValueError):  # the stored entry was edited by hand
        return False
    if not check.shapes:
        return agree(expected, actual, probe.tolerance)
    return values_agree(expected, actual, probe.tolerance) and compare_form(expected, actual) is None


def _encoded(value: Any) -> Any:
    """A tree of tensors and plain values as JSON; None for values that JSON cannot hold."""
    from torch import Tensor

    from autograder.checks.compare import RaisedError

    if isinstance(value, RaisedError):
        return {"raised": [value.kind, value.message[:200]]}
    if isinstance(value, Tensor):
        if value.numel() > MAX_NUMBERS or value.is_complex():
            return None
        numbers = value.detach().flatten().tolist()
        return {"tensor": str(value.dtype).removeprefix("torch."), "shape": list(value.shape), "values": numbers}
    if isinstance(value, bool | int | float | str):
        return {"plain": value}
    if value is None:
        return {"none": True}
    if type(value) in (list, tuple):
        parts = [_encoded(one) for one in value]
        return None if None in parts else {type(value).__name__: parts}
    if type(value) is dict:
        pairs = [[_encoded(key), _encoded(one)] for key, one in value.items()]
        return None if any(None in pair for pair in pairs) else {"dict": pairs}
    return None


def _decoded(tree: Any) -> Any:
    """The inverse of `_encoded`; raises KeyError, TypeError or ValueError for anything else."""
    import torch

    from autograder.checks.compare import RaisedError

    ((kind, held), *_) = tree.items()
    if kind == "tensor":
        dtype = getattr(torch, held, None)
        if not isinstance(dtype, torch.dtype) or len(tree["values"]) > MAX_NUMBERS:
            raise ValueError(f"{held} is no dtype of an answer")
        return torch.tensor(tree["values"], dtype=dtype).reshape(tree["shape"])
    if kind == "raised":
        return RaisedError(str(held[0]), str(held[1]))
    if kind == "dict":
        return {_decoded(key): _decoded(one) for key, one in held}
    if kind in ("list", "tuple"):
        return {"list": list, "tuple": tuple}[kind](_decoded(one) for one in held)
    return {"plain": held, "none": None}[kind]
