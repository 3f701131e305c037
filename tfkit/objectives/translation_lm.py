"""Translation language modelling (Lample and Conneau 2019, arXiv:1901.07291, 3.3): masked LM over a sentence and its
translation side by side, so that a blank in one can be filled by looking at the other."""

from __future__ import annotations


def translation_lm_inputs(
    source_ids: list[int], target_ids: list[int], source_lang: int, target_lang: int, sep_id: int
) -> tuple[list[int], list[int], list[int]]:
    """Positions start again with the second sentence: word i of one stands where word i of the other does.

    two lists of ids and the ids of their languages -> (ids, positions, langs), three lists of one length
    """
    source, target = [*source_ids, sep_id], [*target_ids, sep_id]
    positions = [*range(len(source)), *range(len(target))]
    return source + target, positions, [source_lang] * len(source) + [target_lang] * len(target)
