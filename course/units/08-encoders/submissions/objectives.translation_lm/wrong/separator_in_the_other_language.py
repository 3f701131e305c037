"""You count the mark between the two to the second sentence; it ends the first one, in place and in language."""


def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    source, target = [*source_ids], [sep_id, *target_ids, sep_id]
    positions = [*range(len(source)), *range(len(target))]
    return source + target, positions, [source_lang] * len(source) + [target_lang] * len(target)
