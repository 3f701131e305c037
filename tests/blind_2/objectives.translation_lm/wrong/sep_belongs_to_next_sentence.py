# the first separator is counted as the beginning of the second sentence: position 0 and the target's language
def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    ids, positions, langs = [], [], []
    for i in range(len(source_ids)):
        ids.append(source_ids[i])
        positions.append(i)
        langs.append(source_lang)
    for i, w in enumerate([sep_id] + target_ids + [sep_id]):
        ids.append(w)
        positions.append(i)
        langs.append(target_lang)
    return ids, positions, langs
