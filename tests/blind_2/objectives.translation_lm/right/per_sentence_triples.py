# builds (id, position, lang) triples and unzips them
def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    triples = []
    for words, lang in ((source_ids, source_lang), (target_ids, target_lang)):
        for pos, w in enumerate([*words, sep_id]):
            triples.append((w, pos, lang))
    ids, positions, langs = map(list, zip(*triples))
    return ids, positions, langs
