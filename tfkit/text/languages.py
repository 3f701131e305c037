"""The languages that a published model knows, and their numbers: token ids, or rows of an embedding table."""

from __future__ import annotations

from .. import registry


def language_ids(preset: str) -> dict[str, int]:
    """Language code -> number, in ascending order, for a published size of mBART, M2M-100 or XLM.

    mBART and M2M-100 have a token for each language, and the number is its id; XLM adds an embedding of the language,
    and the number is its row (`langs`). Raises ValueError for a model without language codes, naming those that have
    them.
    """
    found = {name: codes for module in MODULES for name, codes in registry.load(module).language_tables().items()}
    if preset not in found:
        raise ValueError(f"{preset!r} has no language codes; those that have: {', '.join(found)}")
    return found[preset]


MODULES = ("mbart", "m2m_100", "xlm")
