"""Finds answers of a class that share rare code, whatever their variables are called.

An answer becomes the nodes of its syntax tree in order, with all names that it binds made equal. Runs of K nodes are
its fingerprints (Schleimer, Wilkerson & Aiken 2003, unsampled). Those of the stub don't count, and the others count the
more, the fewer students have them: many students write a three-line exercise alike, which is no evidence.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from autograder.exercises.parse import parse_source

K = 12  # nodes, about a line and a half; shorter runs occur in many answers by chance
MIN_SHARE = 0.7  # of the rare fingerprints of the shorter answer
MIN_EVIDENCE = 12.0  # nats of evidence that are needed: one shared unusual line is not enough
KNOWN = 0.9  # of the longer of an answer and a known one
LONG = 60  # fingerprints, about ten lines, of an answer that may be called a copy of a known one
COMMON = 0.34  # a larger share of the class than this is no evidence, and is not counted
MAX_HOLDERS = 100  # nor are more students than this, so that a class of a thousand takes only seconds

# Lines that only IPython understands. IPython's own translation would process all the code again for each of them.
MAGIC = re.compile(r"^([ \t]*+)(?:[%!?].*|.*\?[ \t]*)$", re.M)
ASSIGNED = re.compile(r"^([\w., \t]+=[ \t]*)[%!].*$", re.M)

Node = tuple[str, int]  # its kind and its line
Answers = Mapping[str, Mapping[str, str]]  # student → cell → source


@dataclass(frozen=True)
class Match:
    """One cell that two students answered: similarity, evidence (nats), and the similar lines on both sides."""

    cell: str
    share: float
    evidence: float
    lines: tuple[frozenset[int], frozenset[int]]


@dataclass(frozen=True)
class SimilarPair:
    """Two students, and the cells in which they are alike, the strongest first."""

    students: tuple[str, str]
    matches: tuple[Match, ...]

    @property
    def share(self) -> float:
        """The similarity of the strongest match."""
        return self.matches[0].share

    @property
    def evidence(self) -> float:
        """The evidence of all matches together."""
        return sum(match.evidence for match in self.matches)


@dataclass(frozen=True)
class SimilarityReport:
    """What was found in a class."""

    pairs: list[SimilarPair]  # the strongest evidence first
    nearest: dict[str, float]  # student → share with the nearest other, of any strength
    unreadable: list[tuple[str, str]]  # student and cell whose code does not parse


@dataclass(frozen=True)
class KnownAnswerMatch:
    """An answer that equals a known one up to names: which one, the common share of the longer one, and how many of the
    class wrote the same."""

    student: str
    cell: str
    name: str
    share: float
    others: int


def similar_to_known(
    answers: Answers, known: Mapping[str, Mapping[str, str]], stubs: Mapping[str, str]
) -> list[KnownAnswerMatch]:
    """Answers with the structure of a known one. `known`: cell → name → source. Answers of few nodes are left out:
    there is one way to write them, so similarity is no evidence."""
    found = []
    for cell, sources in known.items():
        stub = _prints(stubs.get(cell, ""))
        known_prints = {name: _prints(source) - stub for name, source in sources.items()}
        student_prints = {student: _prints(own.get(cell, "")) - stub for student, own in answers.items()}
        near = {student: max(((_overlap(own, one), name) for name, one in known_prints.items()), default=(0.0, ""))
                for student, own in student_prints.items() if len(own) >= LONG}  # fmt: skip
        counts = Counter(name for share, name in near.values() if share >= KNOWN)
        found += [KnownAnswerMatch(student, cell, name, share, counts[name] - 1) for student, (share,
        name) in near.items()
                  if share >= KNOWN]  # fmt: skip
    return sorted(found, key=lambda one: (one.others, -one.share, one.student))


def _prints(source: str) -> set[int]:
    try:
        return set(fingerprints(source))
    except SyntaxError:  # `compare` reports them
        return set()


def _overlap(a: set[int], b: set[int]) -> float:
    return len(a & b) / max(len(a), len(b), 1)


def compare(answers: Answers, stubs: Mapping[str, str]) -> SimilarityReport:
    """The pairs of students with similar answers. `stubs`: cell → the released code."""
    cells = dict.fromkeys(cell for own in answers.values() for cell in own)
    found: dict[tuple[str, str], list[Match]] = defaultdict(list)
    nearest = dict.fromkeys(answers, 0.0)
    unreadable = []
    for cell in cells:
        prints = {}
        for student, own in answers.items():
            try:
                prints[student] = fingerprints(own.get(cell, ""))
            except SyntaxError:
                unreadable.append((student, cell))
        for pair, match in _matches(cell, prints, _prints(stubs.get(cell, ""))):
            for student in pair:
                nearest[student] = max(nearest[student], match.share)
            if match.share >= MIN_SHARE and match.evidence >= MIN_EVIDENCE:
                found[pair].append(match)
    pairs = [SimilarPair(who, tuple(sorted(some, key=lambda one: -one.evidence))) for who, some in found.items()]
    return SimilarityReport(sorted(pairs, key=lambda pair: -pair.evidence), nearest, unreadable)


def _matches(cell: str, prints: dict[str, dict[int, set[int]]], stub: set[int]) -> Iterator[tuple]:
    """((student, student), Match) for each two that share anything rare."""
    students = len(prints)
    counts = Counter(one for own in prints.values() for one in own)
    most = most_holders(students)
    weight = {one: math.log(students / n) for one, n in counts.items() if n <= most and one not in stub}
    rare = {student: {one for one in own if one in weight} for student, own in prints.items()}
    holders: dict[int, list[str]] = defaultdict(list)
    for student, own in sorted(rare.items()):
        for one in own:
            holders[one].append(student)
    for pair in {two for some in holders.values() for two in combinations(some, 2)}:
        a, b = (rare[student] for student in pair)
        shared = a & b
        evidence = sum(weight[one] for one in shared)
        whole = min(sum(weight[one] for one in own) for own in (a, b))
        lines = tuple(frozenset(line for one in shared for line in prints[student][one]) for student in pair)
        yield pair, Match(cell, evidence / whole, evidence, lines)  # type: ignore[arg-type]


def most_holders(students: int) -> float:
    """The largest number of these students who may share a fingerprint that counts as evidence."""
    return min(max(2, COMMON * students), MAX_HOLDERS, students - 1)


def fingerprints(source: str) -> dict[int, set[int]]:
    """Hash of each fingerprint → the lines that it covers. Raises SyntaxError if the code does not parse."""
    try:
        nodes = list(normalise(source))
    except RecursionError:
        raise SyntaxError("too deeply nested") from None
    found: dict[int, set[int]] = {}
    for at in range(len(nodes) - K + 1):
        run = nodes[at : at + K]
        found.setdefault(hash(tuple(kind for kind, _ in run)), set()).update(line for _, line in run)
    return found


def normalise(source: str) -> Iterator[Node]:
    """The syntax tree in order, without docstrings and annotations; bound names are equal, imported ones resolved."""
    try:
        tree = parse_source(source)
    except SyntaxError:
        tree = parse_source(ASSIGNED.sub(r"\1None", MAGIC.sub(r"\1pass", source)))
    names = dict.fromkeys(_bound(tree), "·") | dict(_imported(tree))
    for statement in tree.body:
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            yield from _walk(statement, names, statement.lineno)


def _bound(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else []:
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            yield alias.asname or alias.name.partition(".")[0], f"{module}{alias.name}"


IGNORED_FIELDS = ("annotation", "returns", "type_comment", "type_params", "ctx", "name")


def _walk(node: ast.AST, names: Mapping[str, str], line: int) -> Iterator[Node]:
    line = getattr(node, "lineno", line)
    yield _kind(node, names), line
    body = getattr(node, "body", None)
    for field, value in ast.iter_fields(node):
        if field in IGNORED_FIELDS:
            continue
        if field == "body" and isinstance(body, list) and body and _is_docstring(body[0]):
            value = body[1:]
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child, names, line)


def _kind(node: ast.AST, names: Mapping[str, str]) -> str:
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f".{node.attr}"
    if isinstance(node, ast.Constant):
        return repr(node.value)
    if isinstance(node, ast.keyword):
        return f"{node.arg}="
    return "Assign" if isinstance(node, ast.AnnAssign) else type(node).__name__


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
