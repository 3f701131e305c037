"""Your translation comes before the sentence that it translates."""


def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    source, target = [*source_ids, sep_id], [*target_ids, sep_id]
    positions = [*range(len(target)), *range(len(source))]
    return target + source, positions, [target_lang] * len(target) + [source_lang] * len(source)
