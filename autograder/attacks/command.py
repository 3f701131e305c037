"""`autograder doctor --attack`: lets a class of attackers hand in here, and says what held and what did not."""

from __future__ import annotations

import argparse
import re
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from autograder.api import Limits
from autograder.attacks.families import FAMILIES, SAMPLE
from autograder.attacks.race import run_race, tricks
from autograder.attacks.stage import HONEST, LIMITS, Attack, Machine, StageError, attacks, course_fingerprint
from autograder.attacks.trial import Damage, adopt_orphans, play
from autograder.cluster.course import BadCourse, check_course, settings_of
from autograder.console.base import BadInput
from autograder.feedback.text import count_text
from autograder.sandbox import SandboxError, choose

STOPPED = 130  # by Ctrl-C, as a shell reports it
KEPT = ("sandbox", "packages", "device", "credit", "weights")  # of the course's settings, with its limits
GRADED = re.compile(r"INFO\] (\S+) · \S+: \S+ of \S+ in ([\d.]+) s$")


def chosen(every: bool) -> list[Attack]:
    """All attacks, or a second's worth of each family without those that harm a machine whose sandbox does not hold."""
    return [attack for attack in attacks() + tricks() if every or (attack.name in SAMPLE and not attack.harm)]


def run(arguments: argparse.Namespace) -> int:
    """0 if everything held, 1 if something did not, 130 where Ctrl-C came. Raises BadInput."""
    course = arguments.attack or None
    players = chosen(arguments.all)
    settings = _settings(course)
    before = course_fingerprint(course) if course else {}
    try:
        handing_in = [one for one in players if one.family != "clock"]
        faults, seconds = attack(handing_in, settings, len(handing_in) + 1)
        faults += race([one for one in players if one.family == "clock"], settings)
    except KeyboardInterrupt:
        print("stopped: the sandboxes have ended, and the folder of the trial is removed", file=sys.stderr)
        return STOPPED
    except StageError as error:
        raise BadInput(f"the class of attackers could not be graded: {error}") from error
    after = course_fingerprint(course) if course else {}
    faults += [Damage(f"changed: {path}") for path in sorted({*before, *after}) if before.get(path) != after.get(path)]
    print("\n".join(report(players, faults, seconds)))
    return 1 if faults else 0


def _settings(course: Path | None) -> dict[str, Any]:
    """Of `BoxedExecute`: those of the course, if one is given, with limits that end slow attacks within seconds."""
    set_there: Mapping[str, Any] = {}
    if course is not None:
        try:
            check_course(course)
            set_there = settings_of(course).config["BoxedExecute"]
        except BadCourse as error:
            raise BadInput(str(error)) from error
    found = {name: set_there[name] for name in KEPT if name in set_there}
    limits = {**LIMITS, **set_there.get("limits", {})}
    limits |= {name: min(limits[name], LIMITS[name]) for name in ("call_s", "wall_s")}
    try:
        backend = choose(False, found.get("sandbox", ""), tuple(found.get("packages", ())))
    except SandboxError as error:
        raise BadInput(f"there is no sandbox to attack: {error}") from error
    return found | {"sandbox": backend.name, "limits": limits}


def attack(players: Sequence[Attack], settings: Mapping[str, Any], count: int) -> tuple[list[Damage], dict[str, float]]:
    """What the attackers got, and student → the seconds of the grader. Whatever is started or written goes again."""
    limits = Limits(**settings["limits"])
    bounds = f"{limits.call_s:g} s a call, {limits.memory_mb} MB, {limits.processes} processes"
    print(f"{len(players)} attacks and an honest student, in the sandbox {settings['sandbox']}: {bounds}", flush=True)
    if harmful := sum(bool(one.harm) for one in players):
        print(f"{harmful} of them would harm this machine if the sandbox did not hold", flush=True)
    seconds: dict[str, float] = {}
    started = time.monotonic()

    def tell(line: str) -> None:
        if found := GRADED.search(line):
            seconds[found[1]] = float(found[2])
            _progress(f"{len(seconds)} of {count}: {found[1]} after {time.monotonic() - started:.0f} s")

    _progress("the course is made, and the attackers hand in")
    folder = Path(tempfile.mkdtemp(prefix="autograder-attacks-"))
    try:
        with closing(Machine(folder)) as machine, adopt_orphans():
            machine.course.mkdir()
            return play(machine, settings, players, tell), seconds
    finally:
        _progress("")
        shutil.rmtree(folder, ignore_errors=True)


def race(players: Sequence[Attack], settings: Mapping[str, Any]) -> list[Damage]:
    """What those who attack the clock got, in boxes of the same sandbox."""
    started = time.monotonic()
    tell = lambda name: _progress(f"the clock: {name} after {time.monotonic() - started:.0f} s")
    backend = choose(bool(settings.get("trust")), settings["sandbox"], tuple(settings.get("packages", ())))
    try:
        return run_race(players, backend, secrets.randbits(32), tell)
    finally:
        _progress("")


def _progress(line: str) -> None:
    """Shows where the trial is: in place on a terminal, else on a line of its own."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
    elif line:
        print(line, file=sys.stderr, flush=True)


def report(players: Sequence[Attack], faults: Sequence[Damage], seconds: Mapping[str, float]) -> list[str]:
    """A line for each attack, by the promise that it puts to the test; then the honest student, and the machine."""
    of = {student: [fault.what for fault in faults if fault.student == student] for student in
          ("", HONEST, *(attack.name for attack in players))}  # fmt: skip
    lines: list[str] = []
    for promise in dict.fromkeys(family.promise for family in FAMILIES.values()):
        lines += ["", f"SECURITY.md promises: {promise}."]
        lines += [_line(one, of[one.name], seconds) for one in players if FAMILIES[one.family].promise == promise]
    lines += ["", *_afterwards(of)]
    held = sum(not of[attack.name] for attack in players)
    verdict = "everything held" if not faults else f"{count_text(len(faults), 'fault')}: do not grade here"
    return [*lines, f"{held} of {len(players)} attacks got nothing; {verdict}"]


def _line(attack: Attack, faults: Sequence[str], seconds: Mapping[str, float]) -> str:
    time_taken = f" ({seconds[attack.name]:g} s)" if attack.name in seconds else ""
    return f"  {'✗' if faults else '✓'} {attack.name}: {'; '.join(faults) or 'held'}{time_taken}: {attack.aim}"


def _afterwards(of: Mapping[str, Sequence[str]]) -> list[str]:
    honest, traces = "; ".join(of[HONEST]), [f"✗ on this machine: {what}" for what in of[""]]
    return [
        f"✗ the honest student: {honest}" if honest else "✓ the honest student, graded last, has full marks",
        *(traces or ["✓ no file changed, nothing came in from a sandbox, no process was harmed or is left"]),
    ]
