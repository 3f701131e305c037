# only one separator between the sentences, none at the end of the second
def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    first = list(source_ids) + [sep_id]
    second = list(target_ids)
    ids = first + second
    positions = [i for i in range(len(first))] + [i for i in range(len(second))]
    langs = [source_lang for _ in first] + [target_lang for _ in second]
    return ids, positions, langs
