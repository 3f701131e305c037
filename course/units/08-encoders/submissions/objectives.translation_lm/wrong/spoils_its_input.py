"""You append the separators to the lists that were passed in, so the caller's sentences are longer afterwards."""


def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    source_ids.append(sep_id)
    target_ids.append(sep_id)
    positions = [*range(len(source_ids)), *range(len(target_ids))]
    langs = [source_lang] * len(source_ids) + [target_lang] * len(target_ids)
    return source_ids + target_ids, positions, langs
