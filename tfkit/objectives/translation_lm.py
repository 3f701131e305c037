"""Translation language modelling (Lample and Conneau 2019, arXiv:1901.07291, 3.3): masked LM over a sentence and its
translation, so that a masked word in one can be predicted from the other."""

from __future__ import annotations


def translation_lm_inputs(
    source_ids: list[int], target_ids: list[int], source_lang: int, target_lang: int, sep_id: int
) -> tuple[list[int], list[int], list[int]]:
    """Positions start again with the second sentence: word i of both sentences has position i.

    two lists of ids and the ids of their languages -> (ids, positions, langs), three lists of equal length
    """
    source, target = [*source_ids, sep_id], [*target_ids, sep_id]
    positions = [*range(len(source)), *range(len(target))]
    return source + target, positions, [source_lang] * len(source) + [target_lang] * len(target)
