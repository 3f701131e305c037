"""Simplifies a flat file by its text alone: the passes of a compiler, repeated until none changes anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle

from .class_merging import merge_classes
from .constant_folding import fold_constants, fold_dict_lookups, propagate_copies
from .dead_code import (
    erase_uninstantiated_classes,
    remove_dead_attributes,
    remove_dead_stores,
    remove_pure_statements,
    remove_stale_raises,
    remove_unused_definitions,
)
from .inlining import inline_expressions, inline_statements, remove_forwarders
from .rewrite import Source, remove_redundant_parentheses
from .scalar_replacement import expand_stars, replace_aggregates

PASSES = (
    fold_constants,
    expand_stars,
    propagate_copies,
    remove_unused_definitions,
    remove_pure_statements,
    remove_dead_stores,
    remove_dead_attributes,
    inline_expressions,
    remove_forwarders,
    inline_statements,
    replace_aggregates,
    fold_dict_lookups,
    merge_classes,
    erase_uninstantiated_classes,
    remove_stale_raises,
    remove_redundant_parentheses,
)


def simplify(text: str) -> str:
    """The file after all passes, repeated as long as one of them changes something."""
    turns: Iterator[Callable[[Source], str]] = cycle(PASSES)
    idle = 0
    while idle < len(PASSES):
        new = next(turns)(Source(text))
        idle, text = (idle + 1 if new == text else 0), new
    return text
