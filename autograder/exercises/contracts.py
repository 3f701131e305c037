"""Other contracts of an exercise: the same idea with another polarity, axis, scale or order of its values.

A contract says how each value differs from the course's own, as a pair of expressions, one for each direction. All
else follows from it: a function in the course's form becomes one in the contract's (`rewrite`), which makes the stub,
the solution and every collected answer; and a function in the contract's form becomes one in the course's (`adapter`),
so that the exercise's checks, its known mistakes and the cells below it stay as they are. Loads no torch.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from autograder.api import Contract, Exercise, FormChange
from autograder.exercises import injected_modules
from autograder.exercises.variants import variant

MARK = "@"  # between an exercise's id and the name of a contract
CELL = "course-contract"  # id of the cell with the adapter
HEAD = "# From here on in the form of the course, which all that follows uses."


INVERTED = FormChange("~{x}", "~{x}")  # a mask in which True hides
NEGATED = FormChange("-{x}", "-{x}")
SWAPPED = FormChange("{x}[::-1]", "{x}[::-1]")  # a pair in the other order
REVERSED = SWAPPED  # more than two results, from the last to the first
FROM_ZERO = FormChange("{x} + 1", "{x} - 1")  # numbers that count from 0 instead of 1
NEIGHBOURS_SWAPPED = FormChange(*["{x}.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)"] * 2)  # columns 0 and 1, 2 and 3, …


def exchange_axes(one: int, other: int) -> FormChange:
    """Two axes of a tensor exchanged, such as (0, 1) for length first, batch second."""
    return FormChange(f"{{x}}.transpose({one}, {other})", f"{{x}}.transpose({one}, {other})")


LENGTH_FIRST = exchange_axes(0, 1)  # of a tensor whose first two axes are batch and length


class UnknownContract(LookupError):
    """The exercise has no contract of that name; the message lists its contracts."""


def with_contract(exercise: Exercise, name: str) -> Exercise:
    """The exercise under its contract `name`; "" is the course's own. Raises UnknownContract."""
    if not name:
        return replace(exercise, contract=None)
    for one in exercise.contracts:
        if one.name == name:
            return replace(exercise, contract=one)
    known = ", ".join(one.name for one in exercise.contracts) or "only the course's own"
    raise UnknownContract(f"{exercise.id} has no contract called {name!r}; it has: {known}")


def as_checked(exercise: Exercise, source: str) -> Exercise:
    """The exercise under the contract that the source of its check cell names, `check("masks.causal@hidden")`; under
    the course's own where it names none, or one that is not known here."""
    named = re.search(rf"check\(\s*[\"']{re.escape(exercise.id)}{MARK}(\w+)[\"']", source)
    known = {one.name for one in exercise.contracts}
    return with_contract(exercise, named[1]) if named and named[1] in known else exercise


def checking(exercise: Exercise, source: str) -> str:
    """The source of the exercise's check cell, in which it names the exercise's contract."""
    named = rf"(check\(\s*[\"']){re.escape(exercise.id)}(?:{MARK}\w+)?(?=[\"'])"
    return re.sub(named, rf"\g<1>{full_id(exercise)}", source)


def draw_contract(exercise: Exercise, group: str) -> str:
    """The name of the contract of a student or group; "" for the course's own, which is drawn like any other."""
    names = ["", *(one.name for one in exercise.contracts)]
    drawn: str = variant(f"contract/{exercise.id}", group, contract=names).contract
    return drawn


def group_of(variants: str, student: str) -> str:
    """The group that a student is where a course draws contracts for each of them by this text."""
    return f"{variants}/{student}"


def full_id(exercise: Exercise) -> str:
    """The exercise's id, with the name of its contract if that is not the course's own: `masks.causal@hidden`."""
    return f"{exercise.id}{MARK}{exercise.contract.name}" if exercise.contract else exercise.id


def contract_name(exercise: Exercise) -> str:
    """The name of the exercise's contract; "" for the course's own."""
    return exercise.contract.name if exercise.contract else ""


def rewrite(exercise: Exercise, text: str, name: str = "") -> str:
    """An answer in the course's form as one in the form of the exercise's contract.

    A line at the beginning of the function turns arguments into the course's, and what it returns is turned back.
    Where that cannot be written, as in a function that is made by a call, the answer is wrapped in another function.
    name: the collected answer's, whose result may be of a type that changes otherwise.
    """
    contract = exercise.contract
    if contract is None:
        return text
    if name in (otherwise := dict(contract.results_of)):
        contract = replace(contract, result=FormChange("{x}", otherwise[name]))
    for symbol, parameters in _signatures(exercise):
        made = _inline(text, symbol, parameters, contract)
        text = made or _wrapped(text, symbol, parameters, contract)
    return text


def adapter(exercise: Exercise) -> str:
    """Code that turns functions in the form of the contract into those of the course's; "" without a contract.

    Where it is run twice, the second time changes nothing.
    """
    if exercise.contract is None:
        return ""
    parts = [_adapter_of(symbol, parameters, exercise.contract) for symbol, parameters in _signatures(exercise)]
    return "\n\n\n".join([HEAD, *parts]) + "\n"


def conversion(exercise: Exercise, symbol: str) -> str:
    """The definition of the function CONVERT for one symbol, which turns it into the course's form."""
    assert exercise.contract is not None
    parameters = dict(_signatures(exercise))[symbol]
    return _adapter_of(symbol, parameters, exercise.contract).partition(ONCE)[0]


def with_adapter(exercise: Exercise, text: str) -> str:
    """The answer followed by the adapter."""
    return f"{text.rstrip()}\n\n\n{adapter(exercise)}" if exercise.contract else text


def without_adapter(text: str) -> str:
    """The answer alone, as `rewrite` gives it."""
    return text.partition(f"\n\n\n{HEAD}")[0].rstrip() + "\n" if HEAD in text else text


def parameter_names(exercise: Exercise) -> dict[str, tuple[str, ...]]:
    """Symbol -> the names of its parameters, in their order; those of a class are its forward's."""
    return {symbol: tuple(one.name for one in parameters) for symbol, parameters in _signatures(exercise)}


@dataclass(frozen=True)
class _Parameter:
    name: str
    default: str | None

    @property
    def as_text(self) -> str:
        """As in a signature."""
        return self.name if self.default is None else f"{self.name}={self.default}"


def _signatures(exercise: Exercise) -> Iterator[tuple[str, tuple[_Parameter, ...]]]:
    """The symbols and their parameters; those of a class are its forward's, without self."""
    for symbol, reference in zip(exercise.symbols, exercise.references, strict=True):
        node = injected_modules.definition(reference)
        if isinstance(node, ast.ClassDef):
            node = next(one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "forward")
        assert isinstance(node, ast.FunctionDef)
        yield symbol, tuple(one for one in _parameters(node) if one.name != "self")


def _parameters(node: ast.FunctionDef) -> Iterator[_Parameter]:
    names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
    defaults = [None] * (len(names) - len(node.args.defaults)) + [ast.unparse(one) for one in node.args.defaults]
    yield from map(_Parameter, names, defaults)


def _is_class(text: str, symbol: str) -> bool:
    return any(isinstance(one, ast.ClassDef) and one.name == symbol for one in ast.parse(text).body)


def _inline(text: str, symbol: str, parameters: Sequence[_Parameter], contract: Contract) -> str | None:
    """The text with the changes inside its function; None where they can't be written there."""
    function = _function(ast.parse(text), symbol)
    if function is None:
        return None
    own = [one.arg for one in (*function.args.posonlyargs, *function.args.args) if one.arg != "self"]
    returns = list(_returns(function))
    first = _first(function)
    if len(own) < len(parameters) or first is None or any(one.value is None for one in returns) or not returns:
        return None
    lines = text.splitlines()
    if contract.result is not None:
        for one in reversed(returns):
            assert one.value is not None
            _replace(lines, one.value, _changed(contract.result.from_course, one.value, text))
    before: list[str] = []
    for name, parameter in zip(own, parameters, strict=False):
        if change := contract.change_of(parameter.name):
            before += _assignment(name, change.to_course, parameter.default == "None", " " * first.col_offset)
    lines[first.lineno - 1 : first.lineno - 1] = before
    return "\n".join(lines) + "\n"


def _function(tree: ast.Module, symbol: str) -> ast.FunctionDef | None:
    """The one definition of the symbol (a class: of its forward), if nothing else in the code uses it."""
    found = [one for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef) and one.name == symbol]
    used = any(isinstance(one, ast.Name) and one.id == symbol for one in ast.walk(tree))
    if len(found) != 1 or used or found[0].decorator_list:
        return None
    if isinstance(found[0], ast.FunctionDef):
        return found[0]
    methods = [one for one in found[0].body if isinstance(one, ast.FunctionDef) and one.name == "forward"]
    used = any(isinstance(one, ast.Attribute) and one.attr == "forward" for one in ast.walk(found[0]))
    return methods[0] if len(methods) == 1 and not used and not methods[0].decorator_list else None


def _returns(node: ast.AST) -> Iterator[ast.Return]:
    """The returns of a function itself, in their order."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return):
            yield child
        elif not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield from _returns(child)


def _first(function: ast.FunctionDef) -> ast.stmt | None:
    """The first statement after the docstring; None if it stands on the line of the `def`, or there is none."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[0] if body and body[0].lineno > function.lineno else None


def _assignment(name: str, expression: str, optional: bool, indent: str) -> list[str]:
    line = f"{name} = {expression.format(x=name)}"
    return [f"{indent}if {name} is not None:", f"{indent}    {line}"] if optional else [indent + line]


ATOMS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript)


def _changed(expression: str, value: ast.expr, text: str) -> str:
    """The source of an expression applied to a returned value."""
    given = ast.get_source_segment(text, value) or ""
    if expression == "{x}":
        return given
    if expression == SWAPPED.from_course and isinstance(value, ast.Tuple) and len(value.elts) == 2:
        first, second = (ast.get_source_segment(text, one) for one in value.elts)
        return f"({second}, {first})" if given.startswith("(") else f"{second}, {first}"
    return expression.format(x=given if isinstance(value, ATOMS) else f"({given})")


def _replace(lines: list[str], node: ast.expr, new: str) -> None:
    """Write `new` in the place of a node."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    before = lines[node.lineno - 1].encode()[: node.col_offset].decode()
    after = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode()
    lines[node.lineno - 1 : node.end_lineno] = f"{before}{new}{after}".split("\n")


class _Renamed(ast.NodeTransformer):
    def __init__(self, symbol: str, name: str) -> None:
        self.symbol, self.name = symbol, name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A use of the symbol."""
        return ast.copy_location(ast.Name(self.name, node.ctx), node) if node.id == self.symbol else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Its definition."""
        node.name = self.name if node.name == self.symbol else node.name
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """The definition of a class."""
        node.name = self.name if node.name == self.symbol else node.name
        return self.generic_visit(node)


def _wrapped(text: str, symbol: str, parameters: Sequence[_Parameter], contract: Contract) -> str:
    """The text with its symbol under another name, and a function around it."""
    inner = f"inner_{symbol}"
    renamed = ast.unparse(_Renamed(symbol, inner).visit(ast.parse(text)))
    if _is_class(text, symbol):
        head, call, level = f"class {symbol}({inner}):\n    def forward(self, {{}}):", "super().forward", 8
    else:
        head, call, level = f"def {symbol}({{}}):", inner, 4
    indent, lines = " " * level, [head.format(", ".join(one.as_text for one in parameters))]
    for one in parameters:
        if change := contract.change_of(one.name):
            lines += _assignment(one.name, change.to_course, one.default == "None", indent)
    value = f"{call}({', '.join(one.name for one in parameters)})"
    lines.append(f"{indent}return {contract.result.from_course.format(x=value) if contract.result else value}")
    return f"{renamed}\n\n\n" + "\n".join(lines) + "\n"


CONVERT = "in_the_form_of_the_course"  # what a symbol is turned by, in an adapter
ONCE = "\n\n\nif not hasattr("  # begins the part that turns it
FUNCTION = """def {convert}(yours):
    def {symbol}({written}):
{arguments}        result = yours({names})
{result}
    {symbol}.yours = yours
    return {symbol}


if not hasattr({symbol}, "yours"):
    {symbol} = {convert}({symbol})"""
CLASS = """def {convert}(yours):
    class {symbol}(yours):
        def forward(self, {written}):
{arguments}            result = super().forward({names})
{result}
    {symbol}.yours = yours
    return {symbol}


if not hasattr({symbol}, "yours"):
    {symbol} = {convert}({symbol})"""
RESULT = """try:
    return {changed}
except (TypeError, ValueError, LookupError, RuntimeError, AttributeError):  # another type or shape: compared as it is
    return result"""


def _adapter_of(symbol: str, parameters: Sequence[_Parameter], contract: Contract) -> str:
    is_class = symbol[:1].isupper()
    indent = " " * (12 if is_class else 8)
    arguments: list[str] = []
    for one in parameters:
        if change := contract.change_of(one.name):
            arguments += _assignment(one.name, change.from_course, one.default == "None", indent)
    changed = contract.result.to_course.format(x="result") if contract.result else "result"
    result = RESULT.format(changed=changed) if contract.result else "return result"
    return (CLASS if is_class else FUNCTION).format(
        convert=CONVERT,
        symbol=symbol,
        written=", ".join(one.as_text for one in parameters),
        names=", ".join(one.name for one in parameters),
        arguments="".join(f"{line}\n" for line in arguments),
        result="\n".join(indent + line for line in result.splitlines()),
    )
