def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    ids, positions, langs = [], [], []
    for sentence, lang in ((source_ids, source_lang), (target_ids, target_lang)):
        for place, token in enumerate(list(sentence) + [sep_id]):
            ids.append(token)
            positions.append(place)
            langs.append(lang)
    return ids, positions, langs
