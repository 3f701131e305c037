"""You look for the first separator to find where the second sentence starts, but the first sentence may contain a separator itself. Its length tells where it ends."""


def translation_lm_inputs(source_ids, target_ids, source_lang, target_lang, sep_id):
    ids = [*source_ids, sep_id, *target_ids, sep_id]
    border = ids.index(sep_id) + 1
    positions = [place if place < border else place - border for place in range(len(ids))]
    langs = [source_lang if place < border else target_lang for place in range(len(ids))]
    return ids, positions, langs
