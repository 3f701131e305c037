# takes the next random pick only when one is used, instead of one for each pair
def next_sentence_pairs(documents, is_next_u, random_pick):
    us = iter(is_next_u)
    picks = iter(random_pick)
    out = []
    for sentences in documents:
        for a, b in zip(sentences, sentences[1:]):
            is_next = bool(next(us) < 0.5)
            if not is_next:
                doc, sent = next(picks)
                b = documents[doc][sent]
            out.append((a, b, is_next))
    return out
