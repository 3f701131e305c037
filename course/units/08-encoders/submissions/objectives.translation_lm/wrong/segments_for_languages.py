"""You number the two sentences 0 and 1, as BERT does; here the number says which language it is."""


def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    source, target = [*source_ids, sep_id], [*target_ids, sep_id]
    positions = [*range(len(source)), *range(len(target))]
    return source + target, positions, [0] * len(source) + [1] * len(target)
