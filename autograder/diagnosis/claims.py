"""Whether an answer's code has what the sentence of a mistake says of it.

A mistake is named by what the code computes. Its sentence is written for the code that was collected: "you add …",
"your softmax …". Other code can give the same results in another way, of which the sentence would be untrue. So the
operations that a sentence speaks of are looked for in the code.
"""

from __future__ import annotations

import ast
import builtins
import re
from dataclasses import replace
from functools import cache

from autograder.api import BESIDES, Exercise
from autograder.diagnosis.diagnose import Misconception, known_answers, student_sentence
from autograder.exercises import injected_modules
from autograder.exercises.answers import EditedAnswer
from autograder.exercises.parse import parse_source, stored_names, without_magics
from autograder.exercises.registry import exercises
from autograder.feedback.translate import say

BEHAVES = "Your code behaves as if the following were true. {sentence}"
YOU = r"\byou (?:also |still |only |always |then )*"
MEAN = r"\w*mean\w*|average|\w*avg\w*|cross_entropy|nll_loss|binary_cross\w*|mse_loss|\w*Loss|var|std"
PRODUCT = r"\w*mul\w*|einsum|MatMult|\w*matmul|\w*mm|mv|dot|linear|Linear"
COLLECTED = r"append|extend|insert|cat|concat\w*|\w*stack|pad|List|Tuple|Set|Starred|zeros\w*|new_zeros"
MISSING = (
    r"(?:you|your|the|no)\b[^,.:;]*\b(?:no|not|never|nothing|without|missing|lacks?|leaves? out|left out|ignores?)\b"
)
EVERYWHERE = (None, ..., True, False, -2, -1, 0, 1, 2)
CLAIMS: tuple[tuple[str, str], ...] = (  # what a sentence says, and the operations of which the code has one then
    (YOU + "add", rf"Add|\w*add\w*|\w*sum\w*|logsumexp|lerp|{COLLECTED}|BitOr|Or|masked_fill_?|where|register_buffer"),
    (YOU + "subtract", r"Sub|USub|sub_?|subtract|rsub|neg|negative|diff|layer_norm|LayerNorm|add|var|std"),
    (YOU + "multiply", rf"Mult|{PRODUCT}|prod|outer|lerp"),
    (YOU + "divide", rf"Div|FloorDiv|Mod|Pow|\w*div\w*|reciprocal|\w*rsqrt|pow|normalize|\w*norm|{MEAN}"),
    (YOU + "average", rf"Div|Mult|{PRODUCT}|div|cosine\w*|kl_div|{MEAN}"),
    (YOU + "sum", rf"Add|\w*add_?|\w*sum\w*|{PRODUCT}|reduction|cross_entropy|nll_loss"),
    (YOU + "detach", r"detach_?|data|no_grad|inference_mode|\w*grad\w*|item|tolist|numpy|Parameter|\w*tensor|copy_|"
                     r"register_buffer|\w*state_dict"),
    (YOU + "sort", r"\w*sort\w*|topk|kthvalue|argmax|max|min"),
    (YOU + "cli[mp]", r"\w*clamp\w*|\w*clip\w*|\w*min\w*|\w*max\w*|relu|ReLU|where|masked_fill_?|[LG]tE?|If"),
    (YOU + "round", r"round_?|floor\w*|ceil|trunc\w*|rint|FloorDiv|int|long|to|type|div|bucketize|searchsorted"),
    (YOU + "square", r"Pow|Mult|square_?|pow_?|mul_?"),
    (YOU + "transpose", r"transpose_?|t|T|mT|H|mH|permute|einsum|swap\w+|move\w+|adjoint"),
    (YOU + "convert", r"to|float|double|half|bfloat16|\w*type|type_as|long|int|bool|item|tolist|numpy|tensor"),
    (r"\byour softmax", r"\w*softmax\w*|\w*Softmax\w*|scaled_dot_product_attention|cross_entropy|CrossEntropyLoss"),
)  # fmt: skip


def rephrase_untrue_sentences(exercise: Exercise, found: Misconception, source: str) -> Misconception:
    """The mistake, where a sentence is untrue of this code with the sentence as said of what the code does, unless it
    is said so already."""
    known = {one.stem: one for one in known_answers(exercise)}
    besides = f"\n\n{say(BESIDES)} "
    hints = found.hint.split(besides)
    for at, collected in enumerate(known[name] for name in found.names):
        if at and found.second_as_if:
            continue
        said = student_sentence(collected)
        does = has_claimed_operations(said, source, collected.read_text())
        if not does or (isinstance(collected, EditedAnswer) and has_removed_code(said, source, collected)):
            hints[at] = say(BEHAVES, sentence=hints[at])
    return replace(found, hint=besides.join(hints))


def has_claimed_operations(sentence: str, source: str, collected: str) -> bool:
    """Whether the code has an operation for each that the first paragraph of the sentence says it has.

    sentence: in English; collected: the code that it was written for, which may do in another way what it says. True as
    well of code that cannot be read, or that calls what is not known.
    """
    said = [
        operations for words, operations in CLAIMS if re.search(rf"{words}\b", sentence.split("\n\n")[0], re.IGNORECASE)
    ]
    found, known = (operations_of(one) if said else None for one in (source, collected))
    return found is None or known is None or all(_has(found, one) or not _has(known, one) for one in said)


def has_removed_code(sentence: str, source: str, collected: EditedAnswer) -> bool:
    """Whether the sentence, in English, says that something is missing, and the code has all that the collected edit
    removed: names and constants, or operators if it removed nothing else. An edit that puts something else in their
    place is a mistake of another kind."""
    if not re.match(MISSING, sentence, re.IGNORECASE):
        return False
    code, wrong, right = (_parsed(one) for one in (source, collected.read_text(), collected.base_text()))
    if code is None or wrong is None or right is None:
        return False
    for parts in (_names_and_constants, _operators):
        if removed := parts(right) - parts(wrong):
            return not parts(wrong) - parts(right) and removed <= parts(code)
    return False


def _parsed(source: str) -> ast.AST | None:
    try:
        return parse_source(without_magics(source))
    except (SyntaxError, RecursionError):
        return None


def _names_and_constants(tree: ast.AST) -> set[str]:
    """What is called, read of an argument or of an object, or passed by keyword, and the constants, except those that
    are everywhere and those of docstrings. An answer's own names are as its author likes."""
    found: set[str] = set()
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own = (stored_names(tree) | defined) - {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in own:
            found.add(node.id)
        elif isinstance(node, ast.Constant) and id(node) not in texts and node.value not in EVERYWHERE:
            found.add(repr(node.value))
    return found


def _operators(tree: ast.AST) -> set[str]:
    return {type(node).__name__ for node in ast.walk(tree) if isinstance(node, ast.operator | ast.unaryop | ast.cmpop)}


def _has(found: frozenset[str], operations: str) -> bool:
    return any(re.fullmatch(operations, name) for name in found)


def operations_of(source: str) -> frozenset[str] | None:
    """The operators, and the names that are called or passed by keyword, those in references of the course that it
    calls included; None where it can't be read or calls what nobody knows."""
    tree = _parsed(source)
    if tree is None:
        return None
    found, called = _operations(tree)
    unknown = called - _own_names(tree) - set(dir(builtins))
    known = [_of_reference(name) for name in unknown]
    if any(one is None for one in known):
        return None
    return frozenset(found.union(*(one for one in known if one is not None)))


def _operations(tree: ast.AST) -> tuple[set[str], set[str]]:
    """The operations, and those of them that are called by a plain name."""
    found: set[str] = set()
    called: set[str] = set()
    for node in ast.walk(tree):
        found.add(type(node).__name__)
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add(node.name.split(".")[-1])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.add(node.func.id)
            called.add(node.func.id)
    return found, called


def _own_names(tree: ast.AST) -> set[str]:
    """What the code defines, imports, assigns or gets as an argument."""
    found = stored_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.split(".")[0])
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    return found


@cache
def _of_reference(name: str) -> frozenset[str] | None:
    """The operations of the course's own definition; None if it has none of this name."""
    defining = next((one for one in exercises() if name in one.symbols), None)
    if defining is None:
        return None
    return frozenset(_operations(parse_source(injected_modules.source([defining])[0]))[0])
