# lists all true pairs first with a comprehension, then zips them with the draws
def next_sentence_pairs(documents, is_next_u, random_pick):
    true_pairs = [(doc[i], doc[i + 1]) for doc in documents for i in range(len(doc) - 1)]

    def choose(pair, u, pick):
        first, following = pair
        if u < 0.5:
            return first, following, True
        d, s = pick
        return first, documents[d][s], False

    return [choose(pair, u, pick) for pair, u, pick in zip(true_pairs, is_next_u, random_pick)]
