"""The verdicts on notebooks as CI services show them: lines with annotations, a summary, and reports in their formats.

GitHub reads workflow commands (`::error file=…,line=…::…`) from the log, and a summary in Markdown from the file that
GITHUB_STEP_SUMMARY names. GitLab reads JUnit's XML, a test for each exercise, and its Code Quality report.

What a student's code said may be in all of these, so that each is escaped for its format.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from xml.etree import ElementTree

from autograder.api import with_hints
from autograder.feedback.text import one_line, plain, verdict_line, verdict_text
from autograder.feedback.translate import say
from autograder.feedback.words import SIGNS, STATES, is_unwritten, number, places, read_again, reason
from autograder.grade.notebook import LocatedVerdict, NotebookResult

JUNIT, CODE_QUALITY = "junit.xml", "codequality.json"
LEVELS = {"failed": "error", "not_graded": "warning", "unwritten": "notice"}  # of GitHub's annotations
SEVERITIES = {"failed": "major", "not_graded": "critical", "unwritten": "info"}  # of GitLab's Code Quality
LONGEST_CARD = 20_000  # characters
LONGEST_SUMMARY = 1_000_000  # bytes of UTF-8; GitHub refuses a summary above 2^20
NO_ANSWER = "There is no answer here yet."
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Annotation:
    """One thing to look at: where it is in the file, what kind of thing, a title and a text."""

    file: str
    line: int
    state: str
    title: str
    text: str


def state_of(data: Mapping[str, Any]) -> str:
    """The status of a verdict's JSON object, or "unwritten" where the answer is still the released stub."""
    return "unwritten" if is_unwritten(data) else str(data["status"])


def annotate(results: Sequence[NotebookResult], hints: int) -> list[Annotation]:
    """What there is to look at: each exercise without a pass, and each file that could not be graded."""
    found = []
    for result in results:
        file = one_line(result.file.as_posix())
        if result.problem:
            found.append(Annotation(file, 1, "not_graded", say("not graded"), one_line(result.problem)))
        for one in result.verdicts:
            data = with_hints(one.verdict.as_json(), hints)
            if (state := state_of(data)) != "passed":
                line = one.line_in_file(data["line"])
                found.append(Annotation(file, line, state, f"{data['exercise']}: {_state(state)}", _text(one, data)))
    return found


def _state(state: str) -> str:
    return say(STATES[state])


def _text(one: LocatedVerdict, data: Mapping[str, Any]) -> str:
    """Where in the notebook, what is wrong, and the points."""
    departs = data["departure"] if data["line"] else None
    where = say("Cell {cell}", cell=one.cell) if one.cell else ""
    if departs:
        where = say("Cell {cell}, line {line}", cell=one.cell, line=data["line"])
        where += f": {departs['sentence']}.\n    {departs['text'].strip()}"
    messages = [places(c["message"]) for c in data["checks"] if c["status"] == "failed" and c["message"]]
    why = say(NO_ANSWER) if is_unwritten(data) else data["hint"] or reason(data) or "\n".join(messages)
    lines = [text for text in (where, why, read_again(data)) if text]
    score = say("{score} of {most}", score=number(data["score"]), most=number(data["max_score"]))
    return plain("\n".join([*lines, f"{score} {say('points')}"]))


def log_lines(results: Sequence[NotebookResult], hints: int) -> Iterator[str]:
    """A line for each exercise and for each file that could not be graded."""
    for result in results:
        yield one_line(result.problem) if result.problem else one_line(result.file.as_posix())
        yield from (f"  {verdict_line(with_hints(one.verdict.as_json(), hints))}" for one in result.verdicts)


def github_log(results: Sequence[NotebookResult], hints: int) -> Iterator[str]:
    """The log, between the two commands in whose midst GitHub obeys no other."""
    token = secrets.token_hex(16)
    yield f"::stop-commands::{token}"
    yield from map(without_commands, log_lines(results, hints))
    yield f"::{token}::"


def without_commands(line: str) -> str:
    """The line without the older form of GitHub's commands, which it reads anywhere in a line."""
    return line.replace("##[", "## [")


def github(results: Sequence[NotebookResult], hints: int) -> Iterator[str]:
    """The workflow commands, a line for each annotation."""
    for one in annotate(results, hints):
        where = f"file={_property(one.file)},line={one.line},title={_property(one.title)}"
        yield f"::{LEVELS[one.state]} {where}::{_data(one.text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(one_line(text)).replace(":", "%3A").replace(",", "%2C")


def markdown(results: Sequence[NotebookResult], hints: int) -> str:
    """The summary: for each notebook its points, a table of its exercises, and the cards of those without a pass.

    If that is more than GitHub takes, cards are left out, then tables; the last line says how many.
    """
    parts = [part for result in results for part in _section(result, hints)]
    kept = _choose_parts(parts, LONGEST_SUMMARY - 1000)  # the last line needs some
    texts = [text for place, (_, text) in enumerate(parts) if place in kept]
    left_out = [is_card for place, (is_card, _) in enumerate(parts) if place not in kept]
    if left_out:
        counts = {"notebooks": left_out.count(False), "cards": left_out.count(True)}
        texts += [say("Not shown here, as GitHub takes no more: notebooks: {notebooks}, cards: {cards}.", **counts), ""]
    return "\n".join(texts)


def _choose_parts(parts: Sequence[tuple[bool, str]], room: int) -> set[int]:
    """The places of the parts that fit into so many bytes, tables before cards."""
    kept = set()
    for place, (_, text) in sorted(enumerate(parts), key=lambda one: one[1][0]):
        size = len(text.encode("utf-8", "replace")) + 1
        if size <= room:
            kept.add(place)
            room -= size
    return kept


def _section(result: NotebookResult, hints: int) -> Iterator[tuple[bool, str]]:
    """The parts about one notebook, each with whether it is a card: the table first."""
    title = f"### {_cell(result.file.as_posix())}\n"
    if result.problem:
        yield False, f"{title}\n{SIGNS['not_graded']} {_cell(result.problem)}\n"
        return
    shown = [with_hints(one.verdict.as_json(), hints) for one in result.verdicts]
    yield False, f"{title}\n{_table(shown)}\n"
    for data in shown:
        if state_of(data) in ("failed", "not_graded"):
            summary = escape(one_line(data["title"] or data["exercise"]))  # a line of HTML, not of Markdown
            card = _fenced(verdict_text(data)[:LONGEST_CARD])
            yield True, f"<details><summary>{summary}</summary>\n\n{card}\n\n</details>\n"


def _table(shown: Sequence[Mapping[str, Any]]) -> str:
    score, most = (number(sum(data[key] for data in shown)) for key in ("score", "max_score"))
    lines = [f"**{say('{score} of {most}', score=score, most=most)} {say('points')}**\n"]
    lines.append(f"| {say('exercise')} | | {say('points')} |\n|---|---|---|")
    for data in shown:
        state = state_of(data)
        points = say("{score} of {most}", score=number(data["score"]), most=number(data["max_score"]))
        lines.append(f"| {_cell(data['title'] or data['exercise'])} | {SIGNS[state]} {_state(state)} | {points} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    """The text as part of a line of Markdown, in which nothing has a meaning of its own."""
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", escape(one_line(text), quote=False))


def _fenced(text: str) -> str:
    longest = max([2, *(len(found) for found in re.findall("`+", text))])
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def junit(results: Sequence[NotebookResult], hints: int) -> str:
    """JUnit's XML: a suite for each notebook, a test for each exercise; what is to be written counts as skipped."""
    root = ElementTree.Element("testsuites")
    for result in results:
        file = _xml(result.file.as_posix())
        suite = ElementTree.SubElement(root, "testsuite", name=file, tests=str(len(result.verdicts) or 1))
        if result.problem:
            case = ElementTree.SubElement(suite, "testcase", classname=file, name=file, file=file)
            ElementTree.SubElement(case, "error", message=_xml(result.problem))
        for one in result.verdicts:
            data = with_hints(one.verdict.as_json(), hints)
            case = ElementTree.SubElement(suite, "testcase", classname=file, name=_xml(data["exercise"]), file=file)
            tag = {"failed": "failure", "not_graded": "error", "unwritten": "skipped"}.get(state_of(data))
            if tag:
                message = _xml(_text(one, data))
                ElementTree.SubElement(case, tag, message=message).text = _xml(verdict_text(data))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _xml(text: str) -> str:
    return NOT_IN_XML.sub("?", text)


def code_quality(results: Sequence[NotebookResult], hints: int) -> str:
    """GitLab's Code Quality report, an entry for each thing to look at."""
    entries = [
        {
            "description": f"{one.title}\n{one.text}",
            "check_name": one.title.partition(":")[0],
            "fingerprint": hashlib.sha256("\0".join((one.file, one.title, one.text)).encode()).hexdigest(),
            "severity": SEVERITIES[one.state],
            "location": {"path": one.file, "lines": {"begin": one.line}},
        }
        for one in annotate(results, hints)
    ]
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


REPORTS: dict[str, Callable[[Sequence[NotebookResult], int], str]] = {JUNIT: junit, CODE_QUALITY: code_quality}
