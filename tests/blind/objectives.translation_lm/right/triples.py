# builds (id, position, language) triples and takes them apart at the end
def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    triples = []
    for sentence, lang in ((source_ids, source_lang), (target_ids, target_lang)):
        for position, token in enumerate([*sentence, sep_id]):
            triples.append((token, position, lang))
    ids, positions, langs = map(list, zip(*triples))
    return ids, positions, langs
