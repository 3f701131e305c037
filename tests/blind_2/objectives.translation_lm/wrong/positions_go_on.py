# the positions go on through the second sentence
def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    ids = source_ids + [sep_id] + target_ids + [sep_id]
    positions = list(range(len(ids)))
    langs = [source_lang] * (len(source_ids) + 1) + [target_lang] * (len(target_ids) + 1)
    return ids, positions, langs
