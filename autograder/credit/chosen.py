"""Whether a change only selects one of several results that a student's code computes already.

A student who computes several candidate results and returns a wrong one is one change away from a right answer without
knowing which is right. A part of a program is alive if some answer changes when the part is deleted (mutation analysis
by statement deletion). Code that a change makes alive counts as code that the change adds; if the change makes other
code dead at the same time, it only selects. Where the code stops too early to tell, the program may hold no more dead
code than a right answer does.

A loop without the statement that ends it would run forever, whether or not anything uses its results. So where that
statement is deleted, a `break` takes its place. Any other part without which the program does not end is alive.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass

from autograder.credit.changes import MAX_BROUGHT, MAX_TOKENS, NodePlace, tokens_of

MAX_PARTS = 200  # of a program; a longer one is not analysed
NO_PART = (ast.Import, ast.ImportFrom, ast.Pass, ast.Break, ast.Global, ast.Nonlocal, ast.Raise, ast.Assert)
Cells = Mapping[str, str]
Texts = Counter[str]
IsAlive = Callable[[Cells], bool]  # whether an answer changes in this program, from which a part was left out


@dataclass(frozen=True)
class Liveness:
    """The parts of a program by their code, alive and dead, each as often as it stands there."""

    alive: Texts
    dead: Texts

    @property
    def all(self) -> Texts:
        """Both."""
        return self.alive + self.dead


def liveness(cells: Cells, is_alive: IsAlive) -> Liveness | None:
    """Which parts of this program are alive; None if it has too many."""
    found = Liveness(Counter(), Counter())
    for count, (part, without) in enumerate(_parts_left_out(cells)):
        if count >= MAX_PARTS:
            return None
        (found.alive if is_alive(without) else found.dead).update(_texts(part))
    return found


def selects_existing_code(before: Liveness, after: Liveness) -> bool:
    """Whether the change between these programs makes parts alive that were dead, and other parts dead; or too many
    alive."""
    brought = (after.alive - before.alive) & before.dead
    if not brought:
        return False
    ended = (before.alive - after.alive) & after.all
    gone, new = (one.alive - other.all for one, other in ((before, after), (after, before)))
    return bool(ended) or gone.total() > new.total() or _is_much(brought, after.alive)


def has_much_dead_code(after: Liveness) -> bool:
    """Whether a program holds so much dead code that it may be other results."""
    return _is_much(after.dead, after.alive)


def _is_much(some: Texts, alive: Texts) -> bool:
    return _size(some) > min(MAX_TOKENS, MAX_BROUGHT * _size(alive))


def _size(texts: Texts) -> int:
    """The tokens of these parts, of which some stand in others: those of the statements, or else of the longest."""
    parsed = {text: ast.parse(text).body[0] for text in texts}
    statements = [text for text, node in parsed.items() if not isinstance(node, ast.Expr)]
    if statements:
        return sum(tokens_of([text]).total() for text in statements)
    return max((tokens_of([text]).total() for text in texts), default=0)


def _texts(part: ast.AST) -> list[str]:
    """The code of a part, and of the value that it returns or assigns, which is alive with it."""
    value = part.value if isinstance(part, ast.Return | ast.Assign) else None
    return [ast.unparse(one) for one in (part, value) if one is not None]


def _parts_left_out(cells: Cells) -> Iterator[tuple[ast.AST, dict[str, str]]]:
    """Each part, and the program without it."""
    for name, text in cells.items():
        tree = ast.parse(text)
        ending = set(_ending_loops(tree))
        for place in _places(tree):
            assert place.node is not None
            place.put(_nothing(place.node, ending))
            without = dict(cells) | {name: ast.unparse(tree)}
            place.restore()
            yield place.node, without


def _nothing(node: ast.AST, ending: Container[ast.AST]) -> ast.AST:
    """What stands in the place of a part that is left out."""
    if not isinstance(node, ast.stmt):
        return ast.Constant(None)
    return ast.Break() if node in ending else ast.Pass()


def _ending_loops(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements of `while` loops that change what decides whether the loop goes on: names that its test reads, or
    the condition of an `if` that leaves it."""
    for loop in ast.walk(tree):
        if not isinstance(loop, ast.While):
            continue
        inside = list(_inside(loop))
        leaving = [one.test for one in inside if isinstance(one, ast.If) and any(map(_leaves, ast.walk(one)))]
        decisive = {one for test in (loop.test, *leaving) for one in _names(test)}
        yield from (one for one in inside if _is_statement(one) and not decisive.isdisjoint(_changed_names(one)))


def _inside(loop: ast.While) -> Iterator[ast.stmt]:
    """The statements of a loop's body, without those of definitions, which no `break` can leave."""
    todo: list[ast.AST] = list(loop.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node
            todo += ast.iter_child_nodes(node)


def _leaves(node: ast.AST) -> bool:
    return isinstance(node, ast.Break | ast.Return)


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _changed_names(statement: ast.stmt) -> set[str]:
    """The names that a statement assigns to, or whose values a call that is made for its effect may change."""
    if isinstance(statement, ast.Assign | ast.Delete):
        return {name for one in statement.targets for name in _names(one)}
    if isinstance(statement, ast.AugAssign | ast.AnnAssign):
        return _names(statement.target)
    return _names(statement.value) if isinstance(statement, ast.Expr) else set()


def _places(tree: ast.AST) -> list[NodePlace]:
    """Statements that hold no others, and values of which one may be taken: sides, members and arguments."""
    found = []
    indices = {id(one.slice) for one in ast.walk(tree) if isinstance(one, ast.Subscript)}  # no values by themselves
    for holder in ast.walk(tree):
        if id(holder) in indices:
            continue
        for field, value in ast.iter_fields(holder):
            members = value if isinstance(value, list) else [value]
            for at, node in enumerate(members):
                if _is_statement(node) or _is_chosen(holder, field, node):
                    found.append(NodePlace(holder, field, at if isinstance(value, list) else None, node))
    return found


def _is_statement(node: object) -> bool:
    if not isinstance(node, ast.stmt) or isinstance(node, NO_PART) or hasattr(node, "body"):
        return False
    return not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_chosen(holder: ast.AST, field: str, node: object) -> bool:
    """Whether it is a value beside others of which the code may use one."""
    if not isinstance(node, ast.expr) or isinstance(node, ast.Constant | ast.Starred | ast.Slice):
        return False
    if isinstance(holder, ast.Tuple | ast.List):
        return isinstance(holder.ctx, ast.Load) and len(holder.elts) > 1
    if isinstance(holder, ast.Call):
        return field == "args" and not isinstance(node, ast.Name)
    sides = {ast.IfExp: ("body", "orelse"), ast.BoolOp: ("values",), ast.Dict: ("values",), ast.Lambda: ("body",)}
    return field in sides.get(type(holder), ())
