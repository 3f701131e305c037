# no separator after the second sentence + positions are counted from 1
def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    first = source_ids + [sep_id]
    ids = first + target_ids
    positions = [*range(1, len(first) + 1), *range(1, len(target_ids) + 1)]
    langs = len(first) * [source_lang] + len(target_ids) * [target_lang]
    return ids, positions, langs
