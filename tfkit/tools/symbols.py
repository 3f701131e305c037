"""The symbols of this library's source files, and the names that each of them uses."""

from __future__ import annotations

import ast
import builtins
import importlib
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "tfkit"
LEFT_OUT = {"save_pretrained", "names", "self.names", "__call__"}  # for files, and for the names in other libraries
LEFT_OUT |= {  # for a model's user: they compute nothing of it
    "generate", "device", "dtype", "num_parameters", "get_input_embeddings", "set_input_embeddings",
    "get_output_embeddings", "resize_token_embeddings", "position_limit",
}  # fmt: skip
HEAD_TABLES = ("HEAD_CLASSES", "ENCODER_HEAD_CLASSES", "TASK_HEADS")
FASTER = "attend_cpu_in_place"
Symbol = tuple[str, str]  # module, name


@dataclass
class Module:
    """A source file: its symbols, its imports from this library, and its imports from elsewhere."""

    name: str
    text: str
    symbols: dict[str, list[ast.stmt]] = field(default_factory=dict)
    # alias -> module, and the symbol or submodule in it
    inner: dict[str, tuple[str, str]] = field(default_factory=dict)
    outer: dict[str, str] = field(default_factory=dict)  # alias -> the import statement that defines it


@cache
def parse_module(name: str) -> Module:
    """The module of a dotted name, parsed but not executed."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise LookupError(f"no source of {name}")
    text = Path(spec.origin).read_text(encoding="utf-8")
    module = Module(name, text)
    package = name if spec.submodule_search_locations is not None else name.rpartition(".")[0]
    for statement in ast.parse(text).body:
        of_types = statement.body if isinstance(statement, ast.If) and is_type_checking(statement.test) else []
        for imported in (statement, *of_types):
            if isinstance(imported, (ast.Import, ast.ImportFrom)):
                imported_names(module, imported, package)
        for symbol in defined_names(statement):
            module.symbols.setdefault(symbol, []).append(statement)
    return module


def is_type_checking(test: ast.expr) -> bool:
    """Whether what this test guards is imported for annotations only."""
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def defined_names(statement: ast.stmt) -> list[str]:
    """The names that a top-level statement defines."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return []
    return [n.id for target in targets if target for n in ast.walk(target) if isinstance(n, ast.Name)]


def imported_names(module: Module, statement: ast.Import | ast.ImportFrom, package: str) -> None:
    """Record the names that an import statement defines."""
    source = getattr(statement, "module", None) or ""
    if level := getattr(statement, "level", 0):
        source = ".".join([*package.split(".")[: len(package.split(".")) - level + 1], *filter(None, [source])])
    for alias in statement.names:
        name = alias.asname or alias.name.partition(".")[0]
        if source.partition(".")[0] == PACKAGE:
            module.inner[name] = source, alias.name
        elif source != "__future__":
            whole = alias.name + (f" as {alias.asname}" if alias.asname else "")
            module.outer[name] = f"from {source} import {whole}" if source else f"import {whole}"


@cache
def found_in(module: str, name: str) -> Symbol | None:
    """The place where a symbol of this library is defined, followed through re-exports; None for a module or an unknown
    name."""
    here = parse_module(module)
    if name in here.symbols:
        return module, name
    source, symbol = here.inner.get(name, (module, name))
    return found_in(source, symbol) if (source, symbol) != (module, name) else None


class Uses(ast.NodeVisitor):
    """Collects the names in one statement that refer to top-level symbols, with their positions."""

    def __init__(self, module: Module, head: str | None = None) -> None:
        self.module, self.local, self.head, self.where = module, [set[str]()], head, ""
        self.inner: list[tuple[ast.expr, Symbol]] = []
        self.outer: set[str] = set()
        self.removed: list[ast.stmt] = []
        self.false_branches: list[ast.Compare] = []
        # of heads: the table's expression, and its remaining entries
        self.tables: list[tuple[ast.expr, dict[str | None, Symbol]]] = []

    def is_global(self, name: str) -> bool:
        """Whether a name refers to the file's top level, not to a local variable."""
        return not any(name in scope for scope in self.local)

    def visit(self, node: ast.AST) -> None:
        """Handles a node by its kind: skip it, cut it, open a scope for it, or visit its children."""
        if isinstance(node, ast.Compare) and is_tracing(node):
            self.false_branches.append(node)
        elif isinstance(node, ast.stmt) and self.left_out(node):
            self.removed.append(node)
        elif self.head and (value := head_table(node)) is not None:
            self.tables.append((value, self.heads_left(defined_names(node)[0])))  # type: ignore[arg-type]
        elif isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            self.scope(node)
        else:
            super().visit(node)

    def left_out(self, node: ast.stmt) -> bool:
        """Whether a statement is not part of the computation: an import in a function, files, tracing."""
        if isinstance(node, ast.ImportFrom) and len(self.local) > 1:  # an import inside a function
            imported_names(self.module, node, self.module.name.rpartition(".")[0])
            return True
        made = {getattr(node, "name", ""), *map(ast.unparse, getattr(node, "targets", ()))}
        if len(self.local) > 1 and made & LEFT_OUT:
            return True
        if self.head and isinstance(node, ast.If) and FASTER in ast.unparse(node.body[0]):
            return True
        return (isinstance(node, ast.If) and is_tracing(node.test)) or (
            isinstance(node, ast.Expr) and is_tracing(node.value)
        )

    def heads_left(self, name: str) -> dict[str | None, Symbol]:
        """The requested entry of a table of heads, which is in the file or in the class that is being visited."""
        owner = importlib.import_module(self.module.name)
        classes = getattr(getattr(owner, self.where) if self.where else owner, name)
        kept = {self.head: classes[self.head]} if self.head in classes else {}
        return {head: (kind.__module__, kind.__name__) for head, kind in kept.items()}

    def scope(self, node: ast.AST) -> None:
        """A function's local names hide those at the top level."""
        for outside in (*getattr(node, "decorator_list", ()), *defaults(node)):
            self.visit(outside)
        own = {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
        own |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        own |= {n.name for n in ast.walk(node) if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n is not node}
        own |= {n.name for n in ast.walk(node) if isinstance(n, ast.ExceptHandler) and n.name}
        self.local.append(own)
        for child in ast.iter_child_nodes(node):
            if child not in getattr(node, "decorator_list", ()):
                self.visit(child)
        self.local.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Names defined in a class body are visible in that body, and not in its methods."""
        own, self.where = {name for statement in node.body for name in defined_names(statement)}, node.name
        for outside in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(outside)
        for statement in node.body:
            self.local.append(set() if isinstance(statement, ast.FunctionDef) else own)
            self.visit(statement)
            self.local.pop()
        self.where = ""

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Records `module.symbol` of this library; otherwise visits the children."""
        if isinstance(node.value, ast.Name) and self.is_global(node.value.id) and node.value.id in self.module.inner:
            inside = ".".join(self.module.inner[node.value.id])
            if found_in(self.module.name, node.value.id) is None and (found := found_in(inside, node.attr)):
                self.inner.append((node, found))
                return
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """Records a symbol or an import. Raises LookupError for an undefined name."""
        if not self.is_global(node.id):
            return
        if found := found_in(self.module.name, node.id):
            self.inner.append((node, found))
        elif node.id in self.module.outer:
            self.outer.add(self.module.outer[node.id])
        elif not hasattr(builtins, node.id) and not isinstance(node.ctx, ast.Store) and node.id != "__file__":
            raise LookupError(f"{self.module.name}: {node.id} is not found")


def is_tracing(node: ast.expr) -> bool:
    """Whether an expression belongs to tracing, or asks for FlexAttention: `tracing.note(…)`, `tracing.recorder() is
    not None`, `flex.is_chosen(…)`."""
    return ast.unparse(node).startswith(("tracing.", "flex.is_"))


def defaults(node: ast.AST) -> list[ast.expr]:
    """The default values of a function's arguments, which are evaluated outside the function."""
    found = getattr(node, "args", None)
    return [d for d in (*found.defaults, *found.kw_defaults) if d] if isinstance(found, ast.arguments) else []


def head_table(node: ast.AST) -> ast.expr | None:
    """The value of a statement that defines a table of head classes, or None for another statement."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or not set(defined_names(node)) & set(HEAD_TABLES):
        return None
    return node.value


@cache  # architectures share most of their symbols
def uses(symbol: Symbol, head: str | None = None) -> Uses:
    """The names that a symbol's definitions use; with a head, without the other heads."""
    module = parse_module(symbol[0])
    found = Uses(module, head)
    for statement in module.symbols[symbol[1]]:
        found.visit(statement)
    return found
