def next_sentence_pairs(documents, is_next_u, random_pick):
    draws = zip(is_next_u, random_pick)

    def all_pairs():
        for document in documents:
            for a, b in zip(document, document[1:]):
                u, (d, s) = next(draws)
                if u >= 0.5:
                    b = documents[d][s]
                yield a, b, u < 0.5

    return list(all_pairs())
