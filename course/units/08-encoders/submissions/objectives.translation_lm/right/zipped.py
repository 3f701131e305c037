def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    rows = [(token, place, source_lang) for place, token in enumerate(source_ids + [sep_id])]
    rows += [(token, place, target_lang) for place, token in enumerate(target_ids + [sep_id])]
    ids, positions, langs = map(list, zip(*rows))
    return ids, positions, langs
