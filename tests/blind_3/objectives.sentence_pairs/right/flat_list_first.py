# flattens the consecutive pairs first, then zips with draws and picks
def next_sentence_pairs(documents, is_next_u, random_pick):
    consecutive = []
    for doc in documents:
        for i in range(1, len(doc)):
            consecutive.append((doc[i - 1], doc[i]))

    def decide(pair, u, pick):
        first, second = pair
        if u < 0.5:
            return (first, second, True)
        d, s = pick
        return (first, documents[d][s], False)

    return list(map(decide, consecutive, is_next_u, random_pick))
