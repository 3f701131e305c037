"""Passes over what waits for a prediction that nobody has sealed, so that "Run All" goes on behind it.

A cell that compares a prediction stops at `predicted("…")`. An error there would end "Run All" without a word; instead
the rest of the cell is left out, and a card in its output says what it waits for. So do the statements of later cells
that use what the left-out ones would have defined.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Container, Iterator
from html import escape
from typing import Any

from tfkit_lab import prediction_card

MIME = "application/vnd.tfkit.unsealed+json"  # the front end counts these, and says so above the notebook
WORDS = (
    "Predict first: seal your prediction {name} (or skip it), then run this cell again. The rest of it was passed over."
)
INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)  # their bodies run later


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
                self.waiting |= dict.fromkeys(_defined(node.body[index:]), prediction)
                shown = ast.parse(f"__import__('tfkit_lab.unsealed').unsealed.show({prediction!r})").body
                node.body[index:] = [ast.copy_location(ast.fix_missing_locations(one), statement) for one in shown]
                ast.fix_missing_locations(node)
                break
        return node

    def _awaited(self, statement: ast.stmt, sealed: Collection[str]) -> str | None:
        """The prediction that a statement waits for, or None."""
        for node in _now(statement):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "predicted" and node.args:
                name = getattr(node.args[0], "value", None)
                if isinstance(name, str) and name not in sealed:
                    return name
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in self.waiting:
                return self.waiting[node.id]
        return None


def _now(node: ast.AST) -> Iterator[ast.AST]:
    """A statement's nodes that are evaluated when it runs."""
    yield node
    if not isinstance(node, INNER):
        for child in ast.iter_child_nodes(node):
            yield from _now(child)


def _defined(statements: list[ast.stmt]) -> Iterator[str]:
    for node in (node for statement in statements for node in _now(statement)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)


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
