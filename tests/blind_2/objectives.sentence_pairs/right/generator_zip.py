# a generator of index pairs, zipped with the draws
def next_sentence_pairs(documents, is_next_u, random_pick):
    def places():
        for d, doc in enumerate(documents):
            yield from ((d, s) for s in range(1, len(doc)))

    out = []
    for (d, s), u, pick in zip(places(), is_next_u, random_pick):
        follows = bool(u < 0.5)
        dd, ss = (d, s) if follows else pick
        out.append((documents[d][s - 1], documents[int(dd)][int(ss)], follows))
    return out
