"""Which rules there are for what a wrong answer keeps; `autograder.credit.rule` makes points of them."""

from __future__ import annotations

from typing import Literal, get_args

CreditRule = Literal["distance", "checks"]
RULES: tuple[CreditRule, ...] = get_args(CreditRule)
DEFAULT: CreditRule = "distance"
