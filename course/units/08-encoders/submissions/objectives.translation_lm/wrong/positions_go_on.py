"""Your positions run on through both sentences; they start again, so that a word and its translation stand close."""


def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    source, target = [*source_ids, sep_id], [*target_ids, sep_id]
    positions = list(range(len(source) + len(target)))
    return source + target, positions, [source_lang] * len(source) + [target_lang] * len(target)
