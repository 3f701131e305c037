"""Passes over what waits for a prediction that nobody has sealed, so that "Run All" goes on behind it.

A cell that compares a prediction stops at `predicted("…")`. An error there would end "Run All" without a word; instead
the rest of the cell is left out, and a card in its output says what it waits for. So do the statements of later cells
that use what the left-out ones would have defined.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from tfkit_lab import prediction_card

MIME = "application/vnd.tfkit.unsealed+json"  # the front end counts these, and says so above the notebook
WORDS = (
    "Predict first: seal your prediction {name} (or skip it), then run this cell again. The rest of it was passed over."
)
# Where the order in which a node's parts are evaluated is not that of its fields, or not all of them are when it runs.
EVALUATED: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Assign: ("value", "targets"),
    ast.AnnAssign: ("value", "target"),
    ast.NamedExpr: ("value", "target"),
    ast.For: ("iter", "target", "body", "orelse"),
    ast.AsyncFor: ("iter", "target", "body", "orelse"),
    ast.comprehension: ("iter", "target", "ifs"),
    ast.ListComp: ("generators", "elt"),
    ast.SetComp: ("generators", "elt"),
    ast.GeneratorExp: ("generators", "elt"),
    ast.DictComp: ("generators", "key", "value"),
    ast.Lambda: ("args",),  # bodies of functions run later
    ast.FunctionDef: ("decorator_list", "args"),
    ast.AsyncFunctionDef: ("decorator_list", "args"),
    ast.arguments: ("defaults", "kw_defaults"),
}


@dataclass(frozen=True)
class _NameEvent:
    """What running a statement does to a name: `use`, `store`, or `ask` for the prediction of that name."""

    kind: str
    name: str


class PassOver(ast.NodeTransformer):
    """Rewrites each cell before it runs; IPython calls `visit` with the whole cell.

    sealed: the names of the predictions that are sealed or skipped, None where nobody could make one; known: the names
    that the kernel has.
    """

    def __init__(self, sealed: Callable[[], Collection[str] | None], known: Container[str]) -> None:
        self.sealed, self.known = sealed, known
        self.waiting: dict[str, str] = {}  # a name that no cell has defined yet, and the prediction it waits for

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """The cell up to the first statement that waits for a prediction, and a card in place of the rest."""
        sealed = self.sealed()
        if sealed is None:
            return node
        self.waiting = {name: one for name, one in self.waiting.items() if one not in sealed and name not in self.known}
        for index, statement in enumerate(node.body):
            if (prediction := self._awaited(statement, sealed)) is not None:
                self.waiting |= dict.fromkeys(_stored(node.body[index:]), prediction)
                shown = ast.parse(f"__import__('tfkit_lab.unsealed').unsealed.show({prediction!r})").body
                node.body[index:] = [ast.copy_location(ast.fix_missing_locations(one), statement) for one in shown]
                ast.fix_missing_locations(node)
                break
            for name in _stored([statement]):  # this cell defines it itself
                self.waiting.pop(name, None)
        return node

    def _awaited(self, statement: ast.stmt, sealed: Collection[str]) -> str | None:
        """The prediction that a statement waits for, or None."""
        stored = set()
        for event in _events(statement):
            if event.kind == "ask" and event.name not in sealed:
                return event.name
            if event.kind == "use" and event.name in self.waiting and event.name not in stored:
                return self.waiting[event.name]
            if event.kind == "store":
                stored.add(event.name)
        return None


def _stored(statements: Iterable[ast.stmt]) -> set[str]:
    """The names that are defined when these statements have run."""
    return {event.name for one in statements for event in _events(one) if event.kind == "store"}


def _events(node: ast.AST) -> Iterator[_NameEvent]:
    """What happens to names of the module when a node is evaluated, in that order."""
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        yield from _events(node.generators[0].iter)  # which does not see the comprehension's own names
        own = {one.id for part in node.generators for one in ast.walk(part.target) if isinstance(one, ast.Name)}
        yield from (event for event in _parts(node) if event.kind == "ask" or event.name not in own)
    elif isinstance(node, ast.ClassDef):
        yield from _class(node)
    elif not (isinstance(node, ast.AnnAssign) and node.value is None):  # `x: int` defines nothing
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield _NameEvent("use", node.target.id)
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "predicted" and node.args:
            name = getattr(node.args[0], "value", None)
            yield from [_NameEvent("ask", name)] if isinstance(name, str) else []
        yield from _parts(node)
        yield from _own(node)


def _parts(node: ast.AST) -> Iterator[_NameEvent]:
    for field in EVALUATED.get(type(node), node._fields):
        value = getattr(node, field, None)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield from _events(part)


def _own(node: ast.AST) -> Iterator[_NameEvent]:
    """What a node does itself when its parts have been evaluated."""
    if isinstance(node, ast.Name):
        yield _NameEvent("store" if isinstance(node.ctx, ast.Store) else "use", node.id)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield _NameEvent("store", node.name)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (_NameEvent("store", alias.asname or alias.name.partition(".")[0]) for alias in node.names)
    elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
        yield _NameEvent("store", node.name)
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield _NameEvent("store", node.rest)


def _class(node: ast.ClassDef) -> Iterator[_NameEvent]:
    """A class: its body runs at once, with names of its own."""
    own: set[str] = set()
    for part in [*node.decorator_list, *node.bases, *node.keywords]:
        yield from _events(part)
    for event in (event for statement in node.body for event in _events(statement)):
        if event.kind == "store":
            own.add(event.name)
        elif event.kind == "ask" or event.name not in own:
            yield event
    yield _NameEvent("store", node.name)


def install(shell: Any, sealed: Callable[[], Collection[str] | None]) -> None:
    """Let a shell pass over what waits; again is no change."""
    transformers = getattr(shell, "ast_transformers", None)
    if transformers is not None and not any(isinstance(one, PassOver) for one in transformers):
        transformers.append(PassOver(sealed, shell.user_ns))


def show(name: str) -> None:
    """Display the card that stands for what was passed over."""
    from IPython.display import display

    words = WORDS.format(name=name)
    css = " ".join(line.strip() for line in prediction_card.style().splitlines())
    page = (
        f'<style>{css}</style><div class="tfkit-verdict tfkit-predict tfkit-is-unsealed"><div class="tfkit-v-head">'
        f'<span class="tfkit-v-badge">not run</span> <code>{escape(name)}</code></div><p>{escape(words)}</p></div>'
    )
    display({"text/html": page, "text/plain": words, MIME: {"prediction": name}}, raw=True)
