"""Partial evaluation of a flat file, for one configuration and one head (Jones, Gomard and Sestoft 1993): what they
settle is computed beforehand, and what they never reach is left out.

The file is run with a real model and real inputs, with every expression observed (`observe`). Then branches that were
never taken, arguments and attributes that are always the same None, flag or name, checks, and functions without an
effect are removed, as often as there is something to remove. Numbers stay: the file is for every size. A test of
numbers that are not in the configuration, or of a tensor, stays too, unless its other branch raises an error.
"""

from __future__ import annotations

import ast
import logging
import re
from collections.abc import Callable
from itertools import cycle
from types import ModuleType
from typing import Any

from .branch_pruning import prune_branches
from .constant_propagation import propagate_constants
from .dead_arguments import eliminate_dead_arguments
from .observe import Observations, execute, observe
from .rewrite import Source, join_lines
from .simplify import simplify

Use = Callable[[ModuleType], Any]
log = logging.getLogger(__name__)
# what attention step by step returns from functions that concern the fused kernel
REPLACED_BODIES = {"once_per_mask": "return make()", "kernel_shares_heads": "return False"}
PASSES = (prune_branches, propagate_constants, eliminate_dead_arguments)


def specialise(text: str, use: Use) -> str:
    """A flat file specialised for what `use` does with it as a module: it makes the model and calls it."""
    text = textbook(Source(text))
    observations, idle, turns = observe(text, use), 0, cycle(PASSES)
    while idle < len(PASSES):
        new = attempt(next(turns)(Source(text), observations), text, use)
        idle = 0 if new else idle + 1
        text, observations = new or (text, observations)
    text = join_lines(tidy_sections(text))
    use(execute(compile(text, "flat", "exec")))
    return text


def attempt(new: str, old: str, use: Use) -> tuple[str, Observations] | None:
    """A rewritten file, simplified if possible, with the observations of its run; None if it is the old one, or if
    `use` refuses it because its results differ."""
    for clean in (simplify, str):
        try:
            text = clean(new)
            if text != old:
                return text, observe(text, use)
        except Exception as error:
            log.debug("a rewriting was not used: %s: %s", type(error).__name__, error)
    return None


def tidy_sections(text: str) -> str:
    """Removes the headings of sections that are now empty and repeated empty lines inside classes, and joins the import
    statements of one module."""
    text = re.sub(r"(# --- [\w.]+\n\s*)+(?=# --- |\Z)", "", text).rstrip() + "\n"
    text = re.sub(r"\n{3,}(?=    )", "\n\n", text)
    return re.sub(r"(?m)^from (\S+) import .*(\nfrom \1 import .*)+$", one_import, text)


def one_import(lines: re.Match[str]) -> str:
    """Import statements of one module as one."""
    names = (line.partition(" import ")[2] for line in lines[0].splitlines())
    return f"from {lines[1]} import {', '.join(names)}"


def textbook(source: Source) -> str:
    """Makes attention return its output alone, and removes what is cached between calls."""
    for node in source.nodes:
        if not isinstance(node, ast.FunctionDef):
            continue
        last = node.body[-1]
        if node.name == "attend_by_hand" and isinstance(last, ast.Return) and isinstance(last.value, ast.Tuple):
            source.replace(last.value, source.text(last.value.elts[0]))
            source.replace(node.returns, "Tensor")  # type: ignore[arg-type]
            text = re.sub(r" -> \(output (\[[^]]*\])[^)]*\)", r" -> \1", source.text(node.body[0]))
            source.replace(node.body[0], text)
        elif node.name in REPLACED_BODIES:
            source.replace(last, REPLACED_BODIES[node.name])
            for statement in node.body[:-1]:
                source.remove(statement)
    return source.apply()
