# all pairs first, then a slice with step -1 turns the swapped ones round; u < 0.5 swaps
def sentence_order_pairs(documents, swap_u):
    consecutive = [pair for sentences in documents for pair in zip(sentences, sentences[1:])]
    result = []
    for n, pair in enumerate(consecutive):
        swapped = float(swap_u[n]) < 0.5
        step = -1 if swapped else 1
        result.append((*pair[::step], swapped))
    return result
