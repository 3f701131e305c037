"""You look up the picked sentence in the pair's own document; a pick names the document as well."""


def next_sentence_pairs(documents, is_next_u, random_pick):
    pairs = [(*pair, document) for document in documents for pair in zip(document, document[1:])]
    result = []
    for (a, b, own), u, (_, s) in zip(pairs, is_next_u, random_pick):
        result.append((a, b if u < 0.5 else own[s % len(own)], u < 0.5))
    return result
