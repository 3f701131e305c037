"""A fault operator of our own for `autograder hunts --pages`: each position reads the token after it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.hunts.faults import Change, FaultOperator, PageSource


def find(page: PageSource) -> Iterator[Change]:
    """`self.embed(input_ids)` reads the text shifted by one."""
    for call, _ in page.method_calls("embed"):
        if isinstance(call.args[0], ast.Name) and call.args[0].id == "input_ids":
            yield call.args[0], "input_ids.roll(-1, 1)"


OPERATOR = FaultOperator("tokens_shifted", "Each position reads the token after it.", find, trains=True)
