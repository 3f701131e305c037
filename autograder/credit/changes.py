"""Single changes of a student's own code that may make it right: an operator of mutation, or a piece of a right answer
in the place of the student's piece.

A change is small: at most MAX_TOKENS tokens, and at most half of what the student's code computes (`live`). A piece
of a right answer is no answer for a student who has none: it brings in a third of the right answer at most, is code of
the same kind as what it replaces, and never makes the result by itself. So code that becomes right by a change is one
slip away from a right answer, in whatever way it is written. Which change it is, is found by running them in a box.
"""

from __future__ import annotations

import ast
import copy
import keyword
import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, product, zip_longest

from autograder.checks.operators import changes
from autograder.credit.live import live_statements, makers_of_results, result_names
from autograder.diagnosis.rewrites import REWRITES, exchange_lines, rename_variables, repeat_line
from autograder.exercises.parse import parse_source
from autograder.exercises.repair import FIXED, is_specific, match, with_names

MAX_TOKENS = 16  # that one change takes away and puts in, together
MAX_NODES = 800  # of the definitions, all together: the search is quadratic, and answers by other hands have up to 500
MAX_PAIRS = 200_000  # of a piece and a place that are compared
MAX_SHARE = 0.5  # of what the student's code computes
MAX_BROUGHT = 1 / 3  # of a right answer's body, and of the names in it, that a piece brings in
MOST_COMMON = 6  # words that both have in common and that make a piece likelier
TOKEN = re.compile(r"\w+|[^\w\s]")
UNLIKELY = (exchange_lines, repeat_line)
LIKELY = tuple(one for one in REWRITES if one not in UNLIKELY)
SIGNATURE = ("annotation", "returns", "decorator_list", "bases", "args", "keywords")  # of a definition
Definition = ast.FunctionDef | ast.ClassDef
Tokens = Counter[str]


@dataclass(frozen=True)
class ChangedSource:
    """The whole source after one change, what the change is called, and the only line that it changes, if it is one."""

    name: str
    source: str
    line: int | None = None


def single_changes(source: str, symbols: Sequence[str], right: Sequence[ast.Module]) -> Iterator[ChangedSource]:
    """Every small change of the definitions of `symbols` and of what they use, the likeliest first, each once.

    `right`: right answers, from which pieces are taken. Nothing for code that does not parse, or is long.
    """
    try:
        tree = parse_source(source)
        seen = {ast.unparse(tree)}
    except (SyntaxError, RecursionError):
        return
    definitions = [one for one in tree.body if isinstance(one, Definition)]
    if sum(1 for one in definitions for _ in ast.walk(one)) > MAX_NODES:
        return
    for change in _interleaved(_pieces_of_right_answers(definitions, symbols, right), _mutations(definitions)):
        for places in change.placements():
            text = _source_with(tree, places)
            if text not in seen:
                yield ChangedSource(change.name, text, _line_of(places))
            seen.add(text)


def _interleaved(*sources: Iterator[NodeReplacement]) -> Iterator[NodeReplacement]:
    """One of each in turn, until the last has ended."""
    return (one for turn in zip_longest(*sources) for one in turn if one is not None)


def _line_of(places: Sequence[tuple[NodePlace, ast.AST]]) -> int | None:
    """The line, from 1, in which code is replaced; None where it is in several lines, or where a line is put in."""
    nodes = [place.node if hasattr(place.node, "lineno") else place.holder for place, _ in places if place.node]
    spans = {(getattr(one, "lineno", None), getattr(one, "end_lineno", None)) for one in nodes}
    lines = {line for span in spans for line in span}
    return lines.pop() if len(nodes) == len(places) and len(lines) == 1 else None


def _source_with(tree: ast.Module, places: Sequence[tuple[NodePlace, ast.AST]]) -> str:
    """The source with these nodes in these places; the tree is left as it was."""
    for place, node in places:
        place.put(node)
    try:
        return ast.unparse(tree)
    finally:
        for place, _ in reversed(places):
            place.restore()


@dataclass(frozen=True)
class NodeReplacement:
    """Another node in a place of a definition."""

    name: str
    definition: Definition
    place: NodePlace
    node: ast.AST
    max_places: float = math.inf  # at which it may be made together

    def placements(self) -> Iterator[list[tuple[NodePlace, ast.AST]]]:
        """Places with their new nodes: of the change by itself, then at every like place of the definition, for a slip
        that was made for keys and for values."""
        yield [(self.place, self.node)]
        if self.place.node is None or not is_specific([self.place.node]) or self.max_places == 1:
            return
        found = [(self.place, self.node)]
        taken = {id(one) for one in ast.walk(self.place.node)}
        for holder, field, at, other in _code_nodes(self.definition):
            if type(other) is not type(self.place.node) or id(other) in taken:
                continue
            if (names := match([self.place.node], [other])) is not None:
                found.append((NodePlace(holder, field, at, other), with_names(self.node, names)))
                taken |= {id(one) for one in ast.walk(other)}
        if 1 < len(found) <= self.max_places:
            yield found


def _mutations(definitions: Sequence[Definition]) -> Iterator[NodeReplacement]:
    """Each mutation of a definition that is small."""
    for definition, operators in product(definitions, (LIKELY, UNLIKELY)):
        size = _body_tokens(definition).total()
        renamings = rename_variables(definition) if operators is LIKELY else ()
        for one in chain(changes(ast.Module([definition], []), operators), renamings):
            if one.node is not definition and _is_small(tokens(one.node), tokens(one.other), size):
                place = NodePlace(one.parent, one.field, one.place, one.node)
                yield NodeReplacement(one.operator, definition, place, one.other)


def tokens(node: ast.AST | Sequence[ast.AST]) -> Tokens:
    """How often each token occurs in a piece of code."""
    nodes = [node] if isinstance(node, ast.AST) else node
    return tokens_of(ast.unparse(one) for one in nodes)


def tokens_of(texts: Iterable[str]) -> Tokens:
    """How often each token occurs in these texts."""
    return Counter(token for text in texts for token in TOKEN.findall(text))


def _body_tokens(definition: Definition) -> Tokens:
    """The tokens of what the definition computes: no line that defines it, and no line twice or in vain."""
    return tokens_of({one.text for function in _functions(definition) for one in live_statements(function)})


def _distance(one: Tokens, other: Tokens) -> int:
    common = sum(min(count, other[token]) for token, count in one.items() if token in other)
    return one.total() + other.total() - 2 * common


def _is_small(before: Tokens, after: Tokens, whole: int) -> bool:
    """Whether code that computes with `whole` tokens is changed in few of them."""
    return _distance(before, after) <= min(MAX_TOKENS, MAX_SHARE * whole)


# -- pieces of right answers -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NodePlace:
    """A node in the field of another one; `at`: its place there, if the field is a list."""

    holder: ast.AST
    field: str
    at: int | None
    node: ast.AST | None  # None: the gap before that place, in a list of statements

    @cached_property
    def text(self) -> str:
        """Its code."""
        return ast.unparse(self.node) if self.node is not None else ""

    @cached_property
    def tokens(self) -> Tokens:
        """Its tokens."""
        return tokens_of([self.text])

    @cached_property
    def size(self) -> int:
        """The number of its tokens."""
        return self.tokens.total()

    @cached_property
    def context(self) -> Tokens:
        """The tokens of what it stands in: of the expression, or of the statements beside it."""
        if isinstance(self.holder, ast.expr | ast.keyword) or self.at is None:
            return Counter({self.field: 1}) + (tokens_of([_head(self.holder)]) - self.tokens)
        return tokens(self._beside)

    @property
    def _beside(self) -> list[ast.AST]:
        """The statements beside it, in a list of statements."""
        beside = getattr(self.holder, self.field)[max(0, (self.at or 0) - 1) : (self.at or 0) + 2]
        return [one for one in beside if one is not self.node]

    @cached_property
    def key(self) -> tuple[str | int | None, ...]:
        """What is the same for places that no piece tells apart: the same code in the same surroundings."""
        if isinstance(self.node, ast.stmt | None):
            return id(self.holder), self.field, self.node is None, self.text, *map(ast.unparse, self._beside)
        return _head(self.holder), self.field, self.at

    def put(self, node: ast.AST) -> None:
        """Another node instead, or in the gap."""
        if self.at is None:
            setattr(self.holder, self.field, node)
        elif self.node is None:
            getattr(self.holder, self.field).insert(self.at, node)
        else:
            getattr(self.holder, self.field)[self.at] = node

    def restore(self) -> None:
        """Undo `put`."""
        if self.node is None:
            del getattr(self.holder, self.field)[self.at]
        else:
            self.put(self.node)


def _head(node: ast.AST) -> str:
    """The code of an expression, or of a statement without the statements in it."""
    if not hasattr(node, "body") or isinstance(node, ast.expr):
        return ast.unparse(node)
    head = copy.copy(node)
    head.body = [ast.Pass()]
    if hasattr(head, "orelse"):
        head.orelse = []
    return ast.unparse(head)


def _pieces_of_right_answers(
    definitions: Sequence[Definition], symbols: Sequence[str], right: Sequence[ast.Module]
) -> Iterator[NodeReplacement]:
    """The pieces of right answers that fit somewhere, those first that change least."""
    comparisons = [FunctionPair(mine, theirs) for mine, theirs in _to_compare(definitions, symbols, right)]
    candidates = ((one, *pair) for one in comparisons for pair in product(one.pieces, one.places))
    found = [
        (cost, one, piece, place)
        for one, piece, place in islice(candidates, MAX_PAIRS)
        if (cost := one.cost(piece, place)) is not None
    ]
    seen: set[tuple[int, str, int | None, str]] = set()
    known = {id(one): _names_in(one) for one in definitions for one in [one, *_functions(one)]}
    for _, one, piece, place in sorted(found, key=lambda each: each[0]):
        assert piece.node is not None
        key = id(place.holder), place.field, place.at, piece.text
        bound = known[id(one.mine)] | _names_in(piece.node, ast.Store)
        if key not in seen and _names_in(piece.node, ast.Load) <= bound | FIXED:
            most = one.max_places(piece, place)
            yield NodeReplacement("piece of a right answer", one.mine, place, piece.node, most)
        seen.add(key)


def _to_compare(
    definitions: Sequence[Definition], symbols: Sequence[str], right: Sequence[ast.Module]
) -> Iterator[tuple[ast.FunctionDef, ast.FunctionDef]]:
    """The student's functions and methods with those of right answers that may do the same; helpers may do anything."""
    for theirs in (one for tree in right for one in tree.body if isinstance(one, Definition)):
        for mine in definitions:
            if mine.name != theirs.name and mine.name in symbols:
                continue
            for one, other in product(_functions(mine), _functions(theirs)):
                named = {method.name for method in _functions(theirs)} if mine.name == theirs.name else set()
                if one.name == other.name or one.name not in named:
                    yield one, other


class FunctionPair:
    """A function of the student's, and one of a right answer whose pieces may stand in it."""

    def __init__(self, mine: ast.FunctionDef, theirs: ast.FunctionDef) -> None:
        like_mine = with_names(theirs, _counterparts(theirs, mine))
        assert isinstance(like_mine, ast.FunctionDef)
        self.mine = mine
        self.whole, right = _body_tokens(mine).total(), _body_tokens(theirs)
        self.max_brought_tokens = MAX_BROUGHT * right.total()
        self.max_brought_names = MAX_BROUGHT * _count_names(right)
        results = result_names(mine)
        self.places = _distinct(_pieces(mine, gaps=True), makers_of_results(mine, results))
        self.pieces = _distinct(_pieces(like_mine), makers_of_results(like_mine, results))

    def cost(self, piece: NodePlace, place: NodePlace) -> int | None:
        """The tokens that would change, those that differ around them, less the words in common; None for no change
        or one that is too large.

        A piece that has nothing in common with what it replaces would be other code, not the same with a slip.
        """
        if isinstance(piece.node, ast.stmt) is not isinstance(place.node, ast.stmt | None):
            return None
        if abs(place.size - piece.size) > MAX_TOKENS or not _may_stand_for(piece.node, place):
            return None
        cost = _distance(place.tokens, piece.tokens)
        if not cost or not _is_small(place.tokens, piece.tokens, self.whole) or self.max_places(piece, place) < 1:
            return None
        common = sum(min(count, piece.tokens[word]) for word, count in place.tokens.items() if word.isidentifier())
        if not _is_alike(piece, place) or not (common or place.size <= 1):
            return None
        return cost + _distance(place.context, piece.context) - 2 * min(common, MOST_COMMON)

    def max_places(self, piece: NodePlace, place: NodePlace) -> int:
        """At how many places the piece may stand without bringing in too much of the right answer."""
        brought = piece.tokens - place.tokens
        by_tokens = self.max_brought_tokens / max(brought.total(), 1)
        return int(min(by_tokens, self.max_brought_names / max(_count_names(brought), 1)))


def _distinct(places: Sequence[NodePlace], makers: Container[ast.AST]) -> list[NodePlace]:
    """One of each kind that is not all of a result: a line that stands there a hundred times is compared once."""
    some = [
        one
        for one in places
        if one.holder not in makers
        and not (isinstance(one.node, ast.stmt) and any(inner in makers for inner in ast.walk(one.node)))
        or one.node is None
    ]
    return list({one.key: one for one in some}.values())


def _is_alike(piece: NodePlace, place: NodePlace) -> bool:
    """Whether both are code of the same kind, or one is the other with something around it."""
    if type(piece.node) is type(place.node) or place.node is None or isinstance(place.node, ast.Constant):
        return True
    return place.tokens <= piece.tokens or piece.tokens <= place.tokens


def _count_names(code: Tokens) -> int:
    return sum(count for word, count in code.items() if word.isidentifier() and not keyword.iskeyword(word))


def _may_stand_for(piece: ast.AST | None, place: NodePlace) -> bool:
    """Whether the new code could mean something there. Another variable is a mutation."""
    if place.node is None:
        return True
    if place.field == "func" or not isinstance(getattr(place.node, "ctx", ast.Load()), ast.Load):
        return type(piece) is type(place.node) and isinstance(piece, ast.Attribute) and place.field == "func"
    if isinstance(place.node, ast.Name) and (isinstance(piece, ast.Name) or place.node.id in FIXED):
        return False
    if isinstance(piece, ast.Constant) and not isinstance(place.node, ast.Constant | ast.UnaryOp):
        return False
    return isinstance(getattr(piece, "ctx", ast.Load()), ast.Load)


def _code_nodes(definition: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """(holder, field, place in it, node) of each expression and statement in a definition."""
    for holder in ast.walk(definition):
        if isinstance(holder, ast.arguments | ast.expr_context | ast.operator):
            continue
        for field, value in ast.iter_fields(holder):
            if field in SIGNATURE and not isinstance(holder, ast.Call):
                continue
            if isinstance(value, ast.expr):
                yield holder, field, None, value
            elif isinstance(value, list):
                found = (one for one in enumerate(value) if isinstance(one[1], ast.expr | ast.stmt))
                yield from ((holder, field, at, one) for at, one in found if not isinstance(one, Definition))


def _pieces(definition: ast.AST, gaps: bool = False) -> list[NodePlace]:
    """The expressions and statements in a definition, and the gaps before its statements."""
    found = [NodePlace(*one) for one in _code_nodes(definition)]
    statements = [one for one in found if gaps and isinstance(one.node, ast.stmt)]
    return found + [NodePlace(one.holder, one.field, one.at, None) for one in statements]


def _counterparts(right: Definition, mine: Definition) -> dict[str, str]:
    """The student's name for each variable of a right answer: of arguments by position, of others by what is assigned
    to them, if the student does not use the same name."""
    names: dict[str, str] = {}
    for one, other in zip(_functions(right), _functions(mine), strict=False):
        names |= dict(zip(_arguments(one), _arguments(other), strict=False))
    known = _assigned(mine)
    for name, value in _assigned(right).items():
        if name in names or name in known:
            continue
        there = tokens(with_names(value, names))
        near = min(known, key=lambda one: _distance(there, tokens(known[one])), default=None)
        if near is not None and _distance(there, tokens(known[near])) < there.total():
            names[name] = near
    return names


def _functions(definition: Definition) -> list[ast.FunctionDef]:
    """The function, or the methods of the class by name."""
    if isinstance(definition, ast.FunctionDef):
        return [definition]
    return sorted((one for one in definition.body if isinstance(one, ast.FunctionDef)), key=lambda one: one.name)


def _arguments(function: ast.FunctionDef) -> list[str]:
    given = function.args
    return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _assigned(definition: Definition) -> dict[str, ast.expr]:
    """What is first assigned to each variable."""
    found: dict[str, ast.expr] = {}
    for node in ast.walk(definition):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, node.value)
                elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = zip(target.elts, node.value.elts, strict=False)
                    for one, value in pairs:
                        if isinstance(one, ast.Name):
                            found.setdefault(one.id, value)
        elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Name):
            found.setdefault(node.target.id, node.iter)
    return found


def _names_in(node: ast.AST, context: type[ast.expr_context] = ast.expr_context) -> set[str]:
    """The variables in it, of this context; without one also its arguments."""
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, context)}
    return names | {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
