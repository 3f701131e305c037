# separators are not counted: the first one has position 0 of the second sentence's count, so the second sentence starts at 1
def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    ids, positions, langs = [], [], []
    pos = 0
    lang = source_lang
    for tok in source_ids:
        ids.append(tok)
        positions.append(pos)
        langs.append(lang)
        pos += 1
    pos = 0                      # second sentence: start again
    ids.append(sep_id)
    positions.append(pos)
    langs.append(lang)
    pos += 1
    lang = target_lang
    for tok in target_ids + [sep_id]:
        ids.append(tok)
        positions.append(pos)
        langs.append(lang)
        pos += 1
    return ids, positions, langs
