"""Rewrites a source's definitions so that the value of each expression is recorded, with the node that it belongs to.

The box reports only the numbers of nodes; their lines are looked up here, in a table that the box never gets.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.exercises.parse import parse_source

VALUE, METHOD, TOUCH, EACH, ERROR = "_trace_value", "_trace_method", "_trace_touch", "_trace_each", "_trace_error"
DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
MOST_NODES = 20_000


@dataclass
class Node:
    """An expression, or a statement that changes an object, and the nodes whose values it uses."""

    cell: str
    line: int  # 1-based, of the cell
    operation: str  # "softmax", "Div", "load": one name for all ways to write an operation
    text: str = ""  # of a name, an attribute or an index
    name: str = ""  # the variable that gets the value
    single_operands: list[int] = field(
        default_factory=list
    )  # operands that are evaluated once for each value of this node
    repeated_operands: list[int] = field(default_factory=list)  # those of a comprehension, a generator or a lambda
    returned: bool = False  # what the function returns
    tests: list[int] = field(
        default_factory=list
    )  # the conditions and loops around it, which decided that it is computed
    is_call: bool = False
    span: tuple[int, int, int, int] = (0, 0, 0, 0)  # first line and column, last line and column, as `ast` has them


@dataclass
class InstrumentedCode:
    """The rewritten definitions, and the nodes behind their numbers."""

    source: str
    nodes: list[Node]
    statements: dict[int, int]  # line of `source` -> the statement's node

    def nodes_of(self, operation: str) -> list[int]:
        """The nodes of an operation."""
        return [number for number, node in enumerate(self.nodes) if node.operation == operation]


def instrument(cells: Sequence[tuple[str, str]], without: Sequence[str] = (), whole: bool = False) -> InstrumentedCode:
    """The top-level definitions of these (id, text) cells, except those in `without`; cells that do not parse are left
    out.

    `whole`: all of each cell, its imports too, for answers of our own that run by themselves.
    """
    rewriter = _Rewriter()
    body: list[ast.stmt] = []
    for cell, text in cells:
        try:
            statements = parse_source(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        rewriter.cell = cell
        for statement in statements:
            if whole or (_defines(statement) and getattr(statement, "name", "") not in without):
                rewritten: Any = rewriter.visit(statement) if _defines(statement) else statement
                body += rewritten if isinstance(rewritten, list) else [rewritten]
    module = ast.fix_missing_locations(ast.Module(body, []))
    source = ast.unparse(module)
    return InstrumentedCode(source, rewriter.nodes, _statements(module, source))


def _defines(statement: ast.stmt) -> bool:
    return isinstance(statement, DEFINITIONS) or (
        isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda)
    )


def _statements(module: ast.Module, source: str) -> dict[int, int]:
    """Line of the rewritten source -> the number of the statement there."""
    again = parse_source(source)
    pairs = zip(ast.walk(module), ast.walk(again), strict=True)
    return {new.lineno: old.trace_node for old, new in pairs if hasattr(old, "trace_node")}  # type: ignore[attr-defined]


def _call(name: str, *arguments: ast.expr | int) -> ast.Call:
    values = [ast.Constant(one) if isinstance(one, int) else one for one in arguments]
    return ast.Call(ast.Name(name, ast.Load()), values, [])


WRAPPED = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Call, ast.List, ast.Tuple, ast.Set, ast.Dict,
           ast.ListComp, ast.SetComp, ast.DictComp, ast.Subscript, ast.Attribute, ast.Name)  # fmt: skip
JUMPS = (ast.Break, ast.Continue, ast.Return, ast.Raise)
LAZY = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


class _Rewriter(ast.NodeTransformer):
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.cell = ""
        self.open: list[tuple[list[int], list[int]]] = [([], [])]  # operands of the expressions around
        self.tests: list[int] = []  # conditions of the statements around, and what their loops run over
        self.conditions: dict[int, list[int]] = {}  # of each `if`, by its id

    def _add(self, at: ast.AST, operation: str, once: list[int], often: list[int]) -> int:
        if len(self.nodes) >= MOST_NODES:
            raise ValueError("the source is too long to be traced")
        line = getattr(at, "lineno", 1)
        span = (line, getattr(at, "col_offset", 0), getattr(at, "end_lineno", line), getattr(at, "end_col_offset", 0))
        self.nodes.append(Node(self.cell, line, operation, "", "", once, often, False, list(self.tests), span=span))
        return len(self.nodes) - 1

    # -- expressions ---------------------------------------------------------------------------------------------------
    def visit(self, node: ast.AST) -> ast.AST:
        """Visits the node, and records its value if it is an expression with one."""
        if isinstance(node, (ast.JoinedStr, ast.pattern, ast.arguments)):
            return node
        if not isinstance(node, ast.expr):
            return super().visit(node)
        self.open.append(([], []))
        text = ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) else ""
        method = self._method_base(node)
        node = node if isinstance(node, ast.Name) else self._inside(node)
        once, often = self.open.pop()
        if isinstance(node, WRAPPED) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and not _slices(node):
            number = self._add(node, _operation(node), once, often)
            self.nodes[number].text = text
            self.nodes[number].is_call = isinstance(node, ast.Call)
            self.open[-1][0].append(number)
            return _call(VALUE, number, node) if not method else _call(METHOD, number, once[0], node)
        self.open[-1][isinstance(node, LAZY)].extend([*once, *often])
        return node

    def _inside(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Call):
            self._visit_call(node)
            return node
        if isinstance(node, LAZY) and not isinstance(node, ast.Lambda):
            self.generic_visit(node)
            once, often = self.open[-1]
            often[:0], once[:] = once, []
            return node
        return self.generic_visit(node)  # type: ignore[return-value]

    def _visit_call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute):
            if not (isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "math", "np", "F", "nn")):
                node.func.value = self.visit(node.func.value)  # type: ignore[assignment]
        elif not isinstance(node.func, ast.Name):
            node.func = self.visit(node.func)  # type: ignore[assignment]
        node.args = [self._argument(one) for one in node.args]
        for keyword in node.keywords:
            keyword.value = self._argument(keyword.value)

    def _argument(self, node: ast.expr) -> ast.expr:
        """Arguments are recorded even if they are constants: the called function may be the student's."""
        if not isinstance(node, ast.Constant):
            return self.visit(node)  # type: ignore[return-value]
        number = self._add(node, "constant", [], [])
        self.open[-1][0].append(number)
        return _call(VALUE, number, node)

    def _method_base(self, node: ast.expr) -> bool:
        """Whether it is a call of a method, which may change the object that it is called on."""
        func = node.func if isinstance(node, ast.Call) else None
        return (
            isinstance(func, ast.Attribute)
            and isinstance(func.value, (ast.Name, ast.Subscript, ast.Attribute))
            and not (isinstance(func.value, ast.Name) and func.value.id in ("torch", "math", "np", "F", "nn"))
        )

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """Each item of the loop is recorded."""
        node.iter = self._each(node.iter)
        node.ifs = [self.visit(one) for one in node.ifs]  # type: ignore[misc]
        return node

    def _each(self, iterable: ast.expr) -> ast.expr:
        if isinstance(iterable, ast.GeneratorExp):
            return self.visit(iterable)  # type: ignore[return-value]
        wrapped = self.visit(iterable)
        number = self._add(iterable, "each", [self.open[-1][0][-1]] if self.open[-1][0] else [], [])
        self.open[-1][0].append(number)
        return _call(EACH, number, wrapped)  # type: ignore[arg-type]

    # -- statements ----------------------------------------------------------------------------------------------------
    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        """The statement; errors that it raises are reported as its own."""
        self.open.append(([], []))
        new = super().visit(node)
        once, often = self.open.pop()
        number = self._add(node, "statement", once, often)
        statements = new if isinstance(new, list) else [new]
        statements[0].trace_node = number
        return statements

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements; what follows an `if` that leaves the block is computed under its condition."""
        new: list[ast.stmt] = []
        held = len(self.tests)
        for statement in body:
            new += self._statement(statement)
            if isinstance(statement, ast.If) and isinstance(statement.body[-1], JUMPS):
                self.tests += self.conditions.pop(id(statement), [])
        del self.tests[held:]
        return new

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Its body, inside a `try` that reports the line of an error; defaults and annotations stay as they are."""
        return self._function(node)

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def _function(self, node: ast.FunctionDef) -> ast.AST:
        head = 1 if ast.get_docstring(node, clean=False) is not None else 0
        error = ast.Name("_trace_problem", ast.Load())
        handler = ast.ExceptHandler(
            ast.Name("BaseException", ast.Load()),
            "_trace_problem",
            [ast.Expr(_call(ERROR, error)), ast.Raise()],
        )
        body = self._block(node.body[head:])
        node.body = [*node.body[:head], ast.Try(body, [handler], [], [])] if body else node.body
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Visits the methods; the class body itself runs before anything is recorded."""
        node.body = [self.visit(one) if isinstance(one, DEFINITIONS) else one for one in node.body]  # type: ignore[misc]
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """Records the returned value, where the search begins."""
        if node.value is not None:
            node.value = self.visit(node.value)  # type: ignore[assignment]
            if self.open[-1][0]:
                self.nodes[self.open[-1][0][-1]].returned = True
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        """Each item of the loop is recorded."""
        node.iter = self._each(node.iter)
        rounds = self.open[-1][0][-1:]
        self.tests += rounds
        node.body = self._block(node.body)
        del self.tests[len(self.tests) - len(rounds) :]
        node.orelse = self._block(node.orelse)
        return node

    def _branches(self, node: ast.While | ast.If) -> ast.AST:
        node.test = self.visit(node.test)  # type: ignore[assignment]
        tests = self.open[-1][0][-1:]
        self.conditions[id(node)] = tests
        self.tests += tests
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        del self.tests[len(self.tests) - len(tests) :]
        return node

    visit_While = visit_If = _branches

    def visit_With(self, node: ast.With) -> ast.AST:
        """Visits the body's statements, each with its own line."""
        for item in node.items:
            item.context_expr = self.visit(item.context_expr)  # type: ignore[assignment]
        node.body = self._block(node.body)
        return node

    def visit_Try(self, node: ast.Try) -> ast.AST:
        """As `visit_With`, of all four bodies."""
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        node.finalbody = self._block(node.finalbody)
        for handler in node.handlers:
            handler.body = self._block(handler.body)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Visits the value; the annotation is not computed."""
        if node.value is not None:
            node.value = self.visit(node.value)  # type: ignore[assignment]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        """An assignment into an object changes the object."""
        node.value = self.visit(node.value)  # type: ignore[assignment]
        if self.open[-1][0] and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Call):
            self.nodes[self.open[-1][0][-1]].name = node.targets[0].id
        node.targets = [self.visit(one) for one in node.targets]  # type: ignore[misc]
        bases = [base for target in node.targets for base in _bases(target)]
        return [node, *(self._touch(node, base) for base in bases)] if bases else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        """`x += y` computes, and may change an object."""
        node.value = self.visit(node.value)  # type: ignore[assignment]
        base = _root(node.target)
        return [node, self._touch(node, base)] if base else node

    def _touch(self, node: ast.Assign | ast.AugAssign, name: str) -> ast.stmt:
        operation = type(node.op).__name__ if isinstance(node, ast.AugAssign) else "set"
        number = self._add(node, operation, list(self.open[-1][0]), list(self.open[-1][1]))
        self.nodes[number].text = self.nodes[number].name = name
        return ast.Expr(_call(TOUCH, number, ast.Name(name, ast.Load())))

    def visit_Match(self, node: ast.Match) -> ast.AST:
        """Visits the subject and the cases; patterns compute nothing."""
        node.subject = self.visit(node.subject)  # type: ignore[assignment]
        for case in node.cases:
            case.body = self._block(case.body)
        return node

    def visit_Delete(self, node: ast.Delete) -> ast.AST:
        """Leaves the statement unchanged."""
        return node

    visit_Global = visit_Nonlocal = visit_Import = visit_ImportFrom = visit_Delete  # type: ignore[assignment]


def _slices(node: ast.expr) -> bool:
    """Whether it is the `:, i` of a subscript, which is not a value."""
    return isinstance(node, ast.Tuple) and any(isinstance(part, ast.Slice) for part in node.elts)


def _bases(target: ast.expr) -> list[str]:
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    names = [_root(part) for part in parts if isinstance(part, ast.Subscript)]
    return [name for name in names if name]


def _root(target: ast.expr) -> str:
    """`x` of `x[i][j]` and of `x`; "" if the innermost object is not a name."""
    while isinstance(target, ast.Subscript):
        target = target.value
        if isinstance(target, ast.Call) and isinstance(target.func, ast.Name) and target.func.id == VALUE:
            target = target.args[1]
    return target.id if isinstance(target, ast.Name) else ""


def _operation(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        func = node.func
        return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else "call"
    if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.BoolOp)):
        return type(node.op).__name__
    if isinstance(node, ast.Compare):
        return " ".join(type(one).__name__ for one in node.ops)
    if isinstance(node, ast.Attribute):
        return node.attr
    return "load" if isinstance(node, ast.Name) else type(node).__name__
