"""Your second sentence has no end mark; each of the two has one."""


def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    source, target = [*source_ids, sep_id], [*target_ids]
    positions = [*range(len(source)), *range(len(target))]
    return source + target, positions, [source_lang] * len(source) + [target_lang] * len(target)
