# appends the separator to the caller's own lists
def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    source_ids.append(sep_id)
    target_ids.append(sep_id)
    ids = source_ids + target_ids
    positions = [i for i in range(len(source_ids))] + [i for i in range(len(target_ids))]
    langs = [source_lang for _ in source_ids] + [target_lang for _ in target_ids]
    return ids, positions, langs
