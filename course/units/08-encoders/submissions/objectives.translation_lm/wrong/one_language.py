"""All your words are in the source's language; that is what tells the model which language to fill a blank in."""


def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    source, target = [*source_ids, sep_id], [*target_ids, sep_id]
    positions = [*range(len(source)), *range(len(target))]
    return source + target, positions, [source_lang] * (len(source) + len(target))
