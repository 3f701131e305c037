"""Fault operators: small changes that make a page of `tfkit.pages` wrong, and that look like what people write.

An operator finds its places in the syntax tree of a page and says what to write there instead. Operators of other
packages are found by the entry point group `autograder.faults`. Loads no torch.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeVar

from autograder.exercises import plugins

GROUP = "autograder.faults"
MOST_PLACES = 2  # of one operator in a page: more of them would be the same hunt again
NORM = re.compile(r"norm\d?$|_norm$")
ROOT = re.compile(r"sqrt\(|\*\* ?-?0\.5$")

N = TypeVar("N", bound=ast.AST)
Change = tuple[ast.AST, str]  # a node, and the text that takes its place


@dataclass(frozen=True)
class PageSource:
    """The text of a page, with its syntax tree."""

    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The tree."""
        return ast.parse(self.text)

    @cached_property
    def _bytes(self) -> bytes:
        return self.text.encode()  # places in a tree count bytes

    @cached_property
    def _inside(self) -> list[ast.expr | ast.stmt]:
        """All nodes inside functions, in the order of the text."""
        functions = [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]
        every = [part for node in functions for part in ast.walk(node) if isinstance(part, ast.expr | ast.stmt)]
        unique = {id(part): part for part in every}.values()
        return sorted(unique, key=lambda node: (node.lineno, node.col_offset))

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self._bytes.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return starts

    def segment(self, node: ast.AST) -> str:
        """The text of a node."""
        start, end = self._span(node)
        return self._bytes[start:end].decode()

    def nodes(self, kind: type[N]) -> Iterator[N]:
        """All nodes of this kind inside functions, in the order of the text."""
        return (node for node in self._inside if isinstance(node, kind))

    def binary_operations(self, kind: type[ast.operator]) -> Iterator[ast.BinOp]:
        """All sums, products … in the order of the text."""
        return (node for node in self.nodes(ast.BinOp) if isinstance(node.op, kind))

    def method_calls(self, *names: str) -> Iterator[tuple[ast.Call, ast.Attribute]]:
        """All calls `….name(…)` of these names."""
        for node in self.nodes(ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in names:
                yield node, node.func

    def replace(self, node: ast.AST, text: str) -> str:
        """The page's text with another one in place of this node."""
        start, end = self._span(node)
        whole = self._bytes
        return (whole[:start] + text.encode() + whole[end:]).decode()

    def _span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, ast.expr | ast.stmt)
        assert node.end_lineno is not None and node.end_col_offset is not None
        first, last = self._starts[node.lineno - 1], self._starts[node.end_lineno - 1]
        return first + node.col_offset, last + node.end_col_offset


@dataclass(frozen=True)
class FaultOperator:
    """One way of making a page wrong. `description`: what is wrong then, for instructors."""

    name: str
    description: str
    find: Callable[[PageSource], Iterator[Change]]
    trains: bool = False  # shown by training a small model, where the page is a language model

    def faulty(self, page: PageSource) -> Iterator[str]:
        """The page with this fault, once for each place where it fits."""
        for node, text in self.find(page):
            changed = page.replace(node, text)
            if changed != page.text and _parses(changed):
                yield changed


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


@cache
def fault_operators() -> Mapping[str, FaultOperator]:
    """Name -> operator, of this module and of other packages. Raises ValueError for a name that is used twice."""
    found = {one.name: one for one in OPERATORS}
    for name, target in plugins.list_entries(GROUP, "fault operators").items():
        if name in found:
            raise ValueError(f"two fault operators are called {name!r}: one of autograder.hunts.faults, and {target}")
        found[name] = plugins.load(target)
    return found


def _rewrite(kind: type[ast.AST], pattern: str, template: str) -> Callable[[PageSource], Iterator[Change]]:
    """Finds the nodes whose whole text fits the pattern, and expands the template in their place."""

    def find(page: PageSource) -> Iterator[Change]:
        for node in page.nodes(kind):
            if match := re.fullmatch(pattern, page.segment(node)):
                yield node, match.expand(template)

    return find


# -- masks and attention ---------------------------------------------------------------------------------------------
def _mask_off_by_one(page: PageSource) -> Iterator[Change]:
    for call, method in page.method_calls("tril", "triu"):
        if not call.args and not call.keywords:
            yield call, f"{page.segment(method)}(diagonal={1 if method.attr == 'tril' else 0})"
    for node in page.nodes(ast.Compare):
        if isinstance(node.ops[0], ast.LtE) and "key" in page.segment(node.left):
            yield node.comparators[0], f"{page.segment(node.comparators[0])} + 1"
        if page.segment(node) == "distance >= 0":
            yield node, "distance >= -1"
        if page.segment(node) == "position <= position[:, None]":
            yield node, "position <= position[:, None] + 1"


def _mask_other_side(page: PageSource) -> Iterator[Change]:
    for call, method in page.method_calls("tril"):
        yield call, f"{page.segment(method.value)}.triu()"
    for node in page.nodes(ast.Compare):
        if page.segment(node) == "distance >= 0":
            yield node, "distance <= 0"
        if page.segment(node) == "position <= position[:, None]":
            yield node, "position >= position[:, None]"


def _mask_hides_what_may_be_seen(page: PageSource) -> Iterator[Change]:
    for call, _ in page.method_calls("masked_fill"):
        if call.args and isinstance(call.args[0], ast.UnaryOp) and isinstance(call.args[0].op, ast.Invert):
            yield call.args[0], page.segment(call.args[0].operand)


def _mask_left_out(page: PageSource) -> Iterator[Change]:
    for call, method in page.method_calls("masked_fill"):
        yield call, page.segment(method.value)


def _mask_fills_zero(page: PageSource) -> Iterator[Change]:
    for call, _ in page.method_calls("masked_fill"):
        if len(call.args) == 2 and "inf" in page.segment(call.args[1]):
            yield call.args[1], "0.0"


def _window_off_by_one(page: PageSource) -> Iterator[Change]:
    for node in page.nodes(ast.Compare):
        if re.search(r"\.(window|reach)$", page.segment(node.comparators[0])):
            yield node.comparators[0], f"{page.segment(node.comparators[0])} + 1"


def _scale_left_out(page: PageSource) -> Iterator[Change]:
    for node in (*page.binary_operations(ast.Div), *page.binary_operations(ast.Mult)):
        if ROOT.search(page.segment(node.right)) and (
            "size" in page.segment(node.right) or "head" in page.segment(node.right)
        ):
            yield node, page.segment(node.left)


def _scale_without_root(page: PageSource) -> Iterator[Change]:
    for node in page.binary_operations(ast.Div):
        if match := re.fullmatch(r"math\.sqrt\((.+)\)", page.segment(node.right)):
            yield node.right, match[1]


def _softmax_over_wrong_axis(page: PageSource) -> Iterator[Change]:
    for call, method in page.method_calls("softmax"):
        if [page.segment(one) for one in call.args] == ["-1"]:
            yield call, f"{page.segment(method)}(-2)"


def _dropout_in_evaluation(page: PageSource) -> Iterator[Change]:
    for node in page.nodes(ast.Assign):
        if page.segment(node.targets[0]) == "weights" and "softmax" in page.segment(node.value):
            yield node.value, f"nn.functional.dropout({page.segment(node.value)}, 0.1)"
    for call, _ in page.method_calls("gelu", "relu", "silu"):
        yield call, f"nn.functional.dropout({page.segment(call)}, 0.1)"


def _other_projection(wrong: Mapping[str, str]) -> Callable[[PageSource], Iterator[Change]]:
    def find(page: PageSource) -> Iterator[Change]:
        for _, method in page.method_calls(*wrong):
            yield method, f"{page.segment(method.value)}.{wrong[method.attr]}"

    return find


def _weights_transposed(page: PageSource) -> Iterator[Change]:
    for node in page.binary_operations(ast.MatMult):
        if page.segment(node.left) == "weights":
            yield node.left, "weights.transpose(-2, -1)"


def _heads_interleaved(page: PageSource) -> Iterator[Change]:
    for call, method in page.method_calls("transpose"):
        inner = page.segment(method.value)
        if [page.segment(one) for one in call.args] != ["1", "2"]:
            continue
        if match := re.fullmatch(r"(.+)\.unflatten\(-1, \((.+), (-1|self\.d_head)\)\)", inner):
            size = match[3] if match[2] == "-1" else "-1"
            heads = "-1" if match[2] == "-1" else match[2]
            yield call, f"{match[1]}.unflatten(-1, ({size}, {heads})).permute(0, 3, 1, 2)"


def _kv_heads_in_wrong_order(page: PageSource) -> Iterator[Change]:
    for call, method in page.method_calls("repeat_interleave"):
        axis = page.segment(call.keywords[0].value) if call.keywords else page.segment(call.args[-1])
        count = page.segment(call.args[0])
        if axis in ("1", "2"):
            sizes = f"1, {count}, 1, 1" if axis == "1" else f"1, 1, {count}, 1"
            yield call, f"{page.segment(method.value)}.repeat({sizes})"


# -- the residual stream ---------------------------------------------------------------------------------------------
def _residual_left_out(page: PageSource) -> Iterator[Change]:
    for node in page.binary_operations(ast.Add):
        if isinstance(node.left, ast.Name) and _is_part(page, node.right):
            yield node, page.segment(node.right)


def _residual_detached(page: PageSource) -> Iterator[Change]:
    for node in page.binary_operations(ast.Add):
        if isinstance(node.left, ast.Name) and _is_part(page, node.right):
            yield node.left, f"{page.segment(node.left)}.detach()"


def _is_part(page: PageSource, node: ast.AST) -> bool:
    """Whether it is a call of a submodule, or a name for what one gave."""
    named = isinstance(node, ast.Name) and page.segment(node) in ("attended", "y", "output")
    return named or (isinstance(node, ast.Call) and page.segment(node.func).startswith("self."))


def _norm_left_out(page: PageSource) -> Iterator[Change]:
    for call, _ in _norms(page):
        yield call, page.segment(call.args[0])


def _norms(page: PageSource) -> Iterator[tuple[ast.Call, ast.Attribute]]:
    for node in page.nodes(ast.Call):
        if len(node.args) == 1 and isinstance(node.func, ast.Attribute):
            named = page.segment(node.func).startswith("self.") and NORM.search(node.func.attr)
            yield from [(node, node.func)] if named else []


def _norm_in_other_place(page: PageSource) -> Iterator[Change]:
    """`x + f(norm(x))` for `norm(x + f(x))`, and the other way round."""
    for node in page.binary_operations(ast.Add):
        left, right = page.segment(node.left), page.segment(node.right)
        if match := re.fullmatch(rf"(self\.\w+)\((self\.\w*norm\d?)\({re.escape(left)}\)\)", right):
            yield node, f"{match[2]}({left} + {match[1]}({left}))"
    for call, method in _norms(page):
        inner = call.args[0]
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add) and isinstance(inner.left, ast.Name):
            yield call, f"{page.segment(inner.left)} + {page.segment(method)}({page.segment(inner.right)})"


def _norm_over_positions(page: PageSource) -> Iterator[Change]:
    for call, method in page.method_calls("mean"):
        if [page.segment(one) for one in call.args] == ["-1"] and (
            "square" in page.segment(method) or "pow" in page.segment(method)
        ):
            yield call.args[0], "1"


def _norm_without_root(page: PageSource) -> Iterator[Change]:
    for call, method in page.method_calls("sqrt"):
        if "eps" in page.segment(method.value):
            yield call, page.segment(method.value)


# -- embeddings and positions ----------------------------------------------------------------------------------------
def _positions_left_out(page: PageSource) -> Iterator[Change]:
    yield from _summand_left_out(page, r"position")


def _token_types_left_out(page: PageSource) -> Iterator[Change]:
    yield from _summand_left_out(page, r"token_type|segments?\b|\btypes\b|langs?\b")


def _summand_left_out(page: PageSource, pattern: str) -> Iterator[Change]:
    for node in page.binary_operations(ast.Add):
        left, right = page.segment(node.left), node.right
        fits = isinstance(right, ast.Call | ast.Subscript | ast.Attribute) and re.search(pattern, page.segment(right))
        if fits and ("embed" in left or "token" in left):
            yield node, left


def _positions_off_by_one(page: PageSource) -> Iterator[Change]:
    """The first two tokens share a position, so that no table is too short."""
    for call, _ in page.method_calls("arange"):
        text, parent = page.segment(call), page.text.splitlines()[call.lineno - 1]
        if re.search(r"position|angles =", parent) and ", 2" not in text and "query" not in parent:
            yield call, f"({text} - 1).clamp(min=0)"


def _rotary_pairs_neighbours(page: PageSource) -> Iterator[Change]:
    """Columns 2i and 2i+1 are a pair where the published weights have i and i + D/2."""
    for node in page.nodes(ast.Assign):
        if page.segment(node.targets[0]) != "first, second":
            continue
        if match := re.fullmatch(r"(\w+(?:\[.+\])?)\.chunk\(2, (?:dim=)?-1\)", page.segment(node.value)):
            whole = match[1].removesuffix("[..., :rotary_dim]")
            end = ":rotary_dim:" if whole != match[1] else "::"
            yield node.value, f"{whole}[..., {end}2], {whole}[..., 1{end}2]"


def _keys_not_rotated(page: PageSource) -> Iterator[Change]:
    for node in page.nodes(ast.Call):
        if page.segment(node.func) in ("rotate", "self.rotate") and "k" in page.segment(node.args[0]):
            yield node, page.segment(node.args[0])


def _frequencies_too_dense(page: PageSource) -> Iterator[Change]:
    """The exponent runs to 1/2 and not to 1."""
    for node in page.binary_operations(ast.Div):
        if re.match(r"-?torch\.arange\(0, .+, 2", page.segment(node.left)):
            yield node.right, f"(2 * {page.segment(node.right)})"


def _embedding_scale_left_out(page: PageSource) -> Iterator[Change]:
    for node in page.binary_operations(ast.Mult):
        if "embed" in page.segment(node.left) and "sqrt" in page.segment(node.right):
            yield node, page.segment(node.left)


# -- layers, experts, output -----------------------------------------------------------------------------------------
def _activation_replaced(page: PageSource) -> Iterator[Change]:
    wrong = {"gelu": "relu", "silu": "relu", "relu": "gelu", "tanh": "sigmoid"}
    for call, method in page.method_calls(*wrong):
        if page.segment(method.value) == "F":
            yield call, f"F.{wrong[method.attr]}({page.segment(call.args[0])})"


def _activation_left_out(page: PageSource) -> Iterator[Change]:
    for call, method in page.method_calls("gelu", "relu", "silu", "tanh"):
        if page.segment(method.value) in ("F", "torch"):
            yield call, page.segment(call.args[0])


def _parts_joined_in_other_order(page: PageSource) -> Iterator[Change]:
    for call, _ in page.method_calls("cat", "stack"):
        parts = call.args[0] if call.args else None
        if isinstance(parts, ast.List) and len(parts.elts) == 2 and "-1" in page.segment(call).rpartition("]")[2]:
            first, second = map(page.segment, parts.elts)
            if "second *" not in second and "odd *" not in second:  # rotated halves in another order are as good
                yield parts, f"[{second}, {first}]"


def _gate_and_value_exchanged(page: PageSource) -> Iterator[Change]:
    for node in page.binary_operations(ast.Mult):
        left, right = page.segment(node.left), page.segment(node.right)
        match = re.fullmatch(r"(F\.\w+)\((self\.\w+\(\w+\))((?:, [^()]+)?)\)", left)
        if match and right.startswith("self."):
            yield node, f"{match[1]}({right}{match[3]}) * {match[2]}"


def _last_layer_left_out(page: PageSource) -> Iterator[Change]:
    yield from _layers(page, "[:-1]")


def _layers_in_reverse(page: PageSource) -> Iterator[Change]:
    yield from _layers(page, "[::-1]")


def _layers(page: PageSource, part: str) -> Iterator[Change]:
    for node in page.nodes(ast.For):
        if re.fullmatch(r"self\.\w*(layers|encoder|decoder)", page.segment(node.iter)):
            yield node.iter, f"{page.segment(node.iter)}{part}"


def _residual_twice(page: PageSource) -> Iterator[Change]:
    for node in page.nodes(ast.For):
        if len(node.body) == 1 and isinstance(node.body[0], ast.Assign):
            call = node.body[0].value
            if isinstance(call, ast.Call) and page.segment(call.func) == "layer" and page.segment(call.args[0]) == "x":
                yield call, f"x + {page.segment(call)}"


def _router_without_norm(page: PageSource) -> Iterator[Change]:
    for node in page.binary_operations(ast.Div):
        if re.search(r"weights\.sum\(-1, keepdim=True\)", page.segment(node.right)):
            yield node, page.segment(node.left)


def _router_takes_one_less(page: PageSource) -> Iterator[Change]:
    for call, _ in page.method_calls("topk"):
        if "experts_per_token" in page.segment(call.args[0]):
            yield call.args[0], f"{page.segment(call.args[0])} - 1"


def _tied_weights_detached(page: PageSource) -> Iterator[Change]:
    for node in page.nodes(ast.Attribute):
        if re.search(r"embed\S*\.weight\.T$|tokens\.weight\.T$", page.segment(node)):
            yield node, f"{page.segment(node)}.detach()"
    for call, _ in page.method_calls("linear"):
        if len(call.args) > 1 and re.search(r"embed\S*\.weight$|tokens\.weight$", page.segment(call.args[1])):
            yield call.args[1], f"{page.segment(call.args[1])}.detach()"


def _cross_attention_with_other_weights(page: PageSource) -> Iterator[Change]:
    for call, method in page.method_calls("cross_attn", "cross_attention"):
        if len(call.args) > 1 and page.segment(call.args[1]) == "memory" and page.segment(call.args[0]) != "memory":
            yield call, f"{page.segment(method.value)}.self_attn({', '.join(page.segment(one) for one in call.args)})"


def _self_attention_with_other_weights(page: PageSource) -> Iterator[Change]:
    for call, method in page.method_calls("self_attn"):
        if "causal" in page.segment(call):
            yield method, f"{page.segment(method.value)}.cross_attn"


def _convolution_sees_the_future(page: PageSource) -> Iterator[Change]:
    for node in page.nodes(ast.Tuple):
        if re.search(r"kernel\w* - 1, 0\)$", page.segment(node)):
            yield node, page.segment(node).replace(" - 1, 0)", " - 2, 1)")


# -- generating ------------------------------------------------------------------------------------------------------
def _next_token_from_first_position(page: PageSource) -> Iterator[Change]:
    for _, method in page.method_calls("argmax"):
        if page.segment(method.value).endswith("[:, -1]"):
            yield method.value, page.segment(method.value).removesuffix("-1]") + "0]"


def _reads_first_token_again(page: PageSource) -> Iterator[Change]:
    for call, _ in page.method_calls("step"):
        if page.segment(call.args[0]) == "ids[:, -1]":
            yield call.args[0], "ids[:, 0]"


def _least_likely_token(page: PageSource) -> Iterator[Change]:
    for _, method in page.method_calls("argmax"):
        if page.segment(method.value).endswith(("[:, -1]", "logits")):
            yield method, f"{page.segment(method.value)}.argmin"


OPERATORS = (
    FaultOperator("causal_mask_off_by_one", "The causal mask shows one token too many.", _mask_off_by_one, trains=True),
    FaultOperator("causal_mask_other_side", "The mask shows the future and hides the past.", _mask_other_side),
    FaultOperator("mask_inverted", "The mask hides what may be seen.", _mask_hides_what_may_be_seen),
    FaultOperator("mask_left_out", "The scores are not masked.", _mask_left_out, trains=True),
    FaultOperator("mask_fills_zero", "Hidden scores become 0, which is an ordinary score.", _mask_fills_zero),
    FaultOperator("window_off_by_one", "The window is one token wider.", _window_off_by_one),
    FaultOperator(
        "padding_seen",
        "Padding is attended to.",
        _rewrite(ast.Subscript, r"attention_mask\.bool\(\)\[:, None, None\]", r"torch.ones_like(\g<0>)"),
    ),
    FaultOperator("scale_left_out", "Scores are not divided by the square root of the width.", _scale_left_out),
    FaultOperator(
        "scale_without_root", "Scores are divided by the width, not by its square root.", _scale_without_root
    ),
    FaultOperator("softmax_over_queries", "The softmax runs over the queries.", _softmax_over_wrong_axis),
    FaultOperator("dropout_in_evaluation", "Dropout is never switched off.", _dropout_in_evaluation),
    FaultOperator(
        "values_from_key_weights",
        "Values are made by the projection of the keys.",
        _other_projection({"v_proj": "k_proj"}),
    ),
    FaultOperator(
        "keys_from_query_weights",
        "Keys are made by the projection of the queries.",
        _other_projection({"k_proj": "q_proj"}),
    ),
    FaultOperator(
        "queries_and_keys_exchanged",
        "Scores are those of keys with queries.",
        _rewrite(ast.BinOp, r"(\w+) @ (\w+)(\.transpose\(-2, -1\))", r"\2 @ \1\3"),
    ),
    FaultOperator("weights_transposed", "Attention weights are applied transposed.", _weights_transposed),
    FaultOperator("heads_interleaved", "A head takes every n-th column, not a block.", _heads_interleaved),
    FaultOperator(
        "heads_not_transposed",
        "Heads are joined without transposing them back.",
        _rewrite(ast.Call, r"(\w+)\.transpose\(1, 2\)\.flatten\(2\)", r"\1.reshape(\1.size(0), \1.size(2), -1)"),
    ),
    FaultOperator("kv_heads_in_wrong_order", "Key-value heads are repeated as a block.", _kv_heads_in_wrong_order),
    FaultOperator("residual_left_out", "A residual connection is missing.", _residual_left_out),
    FaultOperator(
        "residual_detached", "No gradient goes along a residual connection.", _residual_detached, trains=True
    ),
    FaultOperator("norm_left_out", "A normalization is missing.", _norm_left_out),
    FaultOperator(
        "norm_in_other_place", "The normalization is on the other side of the sublayer.", _norm_in_other_place
    ),
    FaultOperator("norm_over_positions", "The normalization runs over the positions.", _norm_over_positions),
    FaultOperator(
        "norm_without_root", "The normalization divides by the mean square, not by its root.", _norm_without_root
    ),
    FaultOperator("positions_left_out", "Positions are not added.", _positions_left_out),
    FaultOperator("positions_off_by_one", "The first two tokens have the same position.", _positions_off_by_one),
    FaultOperator("token_types_left_out", "Segments or languages are not added.", _token_types_left_out),
    FaultOperator(
        "rotation_with_wrong_sign",
        "A sign of the rotation is wrong.",
        _rewrite(ast.BinOp, r"(\w+ \* cos) - (\w+ \* sin)", r"\1 + \2"),
    ),
    FaultOperator("rotary_pairs_of_neighbours", "The rotation pairs neighbouring columns.", _rotary_pairs_neighbours),
    FaultOperator("keys_not_rotated", "Queries are rotated, keys are not.", _keys_not_rotated),
    FaultOperator(
        "frequencies_too_dense", "The exponents of the frequencies are half as large.", _frequencies_too_dense
    ),
    FaultOperator(
        "embedding_scale_left_out", "Embeddings are not multiplied by their scale.", _embedding_scale_left_out
    ),
    FaultOperator("activation_replaced", "Another activation function.", _activation_replaced),
    FaultOperator("activation_left_out", "An activation function is missing.", _activation_left_out),
    FaultOperator(
        "parts_joined_in_other_order", "Two parts are joined in the other order.", _parts_joined_in_other_order
    ),
    FaultOperator(
        "lengths_ignored",
        "Padding is read as if it were text.",
        _rewrite(ast.Call, r"(attention_mask)\.sum\(1\)", r"torch.full_like(\1[:, 0], \1.size(1))"),
    ),
    FaultOperator(
        "gate_and_value_exchanged", "The activation is on the value, not on the gate.", _gate_and_value_exchanged
    ),
    FaultOperator(
        "one_layer_many_times",
        "All layers are one and the same.",
        _rewrite(ast.Call, r"(nn\.ModuleList)\((\w+\(c\)) for _ in range\((.+)\)\)", r"\1([\2] * \3)"),
    ),
    FaultOperator("last_layer_left_out", "The last layer is not used.", _last_layer_left_out),
    FaultOperator("layers_in_reverse", "The layers run from the last to the first.", _layers_in_reverse),
    FaultOperator("residual_twice", "Each layer's input is added once more.", _residual_twice),
    FaultOperator("router_without_norm", "The router's weights don't sum to 1.", _router_without_norm),
    FaultOperator("router_takes_one_less", "One expert less per token.", _router_takes_one_less),
    FaultOperator("tied_weights_detached", "The tied output weights get no gradient.", _tied_weights_detached),
    FaultOperator(
        "cross_attention_weights",
        "Cross-attention uses the weights of self-attention.",
        _cross_attention_with_other_weights,
    ),
    FaultOperator(
        "self_attention_weights",
        "Self-attention uses the weights of cross-attention.",
        _self_attention_with_other_weights,
    ),
    FaultOperator(
        "state_not_decayed", "The state never forgets.", _rewrite(ast.BinOp, r"decay\[.+\] \* (state)", r"\1")
    ),
    FaultOperator("convolution_sees_the_future", "The convolution is shifted by one.", _convolution_sees_the_future),
    FaultOperator(
        "next_token_from_first_position",
        "The next token is read at the first position.",
        _next_token_from_first_position,
    ),
    FaultOperator("reads_first_token_again", "Each step reads the first token.", _reads_first_token_again),
    FaultOperator("least_likely_token", "The least likely token is written.", _least_likely_token),
    FaultOperator(
        "token_put_in_front",
        "The new token is put in front of the text.",
        _rewrite(ast.List, r"\[(.+), next_id\]", r"[next_id, \1]"),
    ),
)
