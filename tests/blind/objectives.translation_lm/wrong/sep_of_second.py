# the separator between the two sentences gets the language of the second
def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    s, t = len(source_ids), len(target_ids)
    ids = list(source_ids) + [sep_id] + list(target_ids) + [sep_id]
    positions = list(range(s + 1)) + list(range(t + 1))
    langs = [source_lang] * s + [target_lang] * (t + 2)
    return ids, positions, langs
