# the two sentences are interleaved word by word + positions start at 1
def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    a = source_ids + [sep_id]
    b = target_ids + [sep_id]
    ids, pos, langs = [], [], []
    for i in range(max(len(a), len(b))):
        if i < len(a):
            ids.append(a[i]); pos.append(i + 1); langs.append(source_lang)
        if i < len(b):
            ids.append(b[i]); pos.append(i + 1); langs.append(target_lang)
    return ids, pos, langs
