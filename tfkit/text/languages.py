"""Which languages a published model knows, and by what number: tokens of the vocabulary, or rows of a table."""

from __future__ import annotations

from .. import registry


def language_ids(preset: str) -> dict[str, int]:
    """Code -> number, in the order of the numbers, for a published size of mBART, M2M-100 or XLM.

    mBART and M2M-100 have a token for each language, and the number is its id; XLM adds a vector from a table, and the
    number is its row (`langs`). Raises ValueError for a model without such codes, naming those that have some.
    """
    found = {name: codes for module in MODULES for name, codes in registry.load(module).language_tables().items()}
    if preset not in found:
        raise ValueError(f"{preset!r} has no language codes; those that have: {', '.join(found)}")
    return found[preset]


MODULES = ("mbart", "m2m_100", "xlm")
