"""You give each sentence the language of the other."""


def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    source, target = [*source_ids, sep_id], [*target_ids, sep_id]
    positions = [*range(len(source)), *range(len(target))]
    return source + target, positions, [target_lang] * len(source) + [source_lang] * len(target)
