"""Simplifies a flat file by its text alone: the passes of a compiler, repeated until none changes anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
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


@lru_cache(maxsize=2)  # `specialise` asks again of a text that a pass has left as it was
def simplify(text: str) -> str:
    """The file after all passes, repeated as long as one of them changes something."""
    turns: Iterator[Callable[[Source], str]] = cycle(PASSES)
    idle, source = 0, Source(text)
    while idle < len(PASSES):
        new = next(turns)(source)
        if new == text:  # parsed already: the next pass gets the same tree
            idle += 1
            source.edits.clear()
        else:
            idle, text, source = 0, new, Source(new)
    return text
