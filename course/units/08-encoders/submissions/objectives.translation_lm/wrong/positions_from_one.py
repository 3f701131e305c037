"""Your positions begin at 1; the first word stands at 0."""


def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    source, target = [*source_ids, sep_id], [*target_ids, sep_id]
    positions = [*range(1, len(source) + 1), *range(1, len(target) + 1)]
    return source + target, positions, [source_lang] * len(source) + [target_lang] * len(target)
