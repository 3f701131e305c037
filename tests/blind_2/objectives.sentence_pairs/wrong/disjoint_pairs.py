# takes sentences two by two (0,1), (2,3) instead of every consecutive pair
def next_sentence_pairs(documents, is_next_u, random_pick):
    result = []
    k = 0
    for document in documents:
        for first, second in zip(document[0::2], document[1::2]):
            is_next = is_next_u[k] < 0.5
            if not is_next:
                doc_no, sent_no = random_pick[k]
                second = documents[doc_no][sent_no]
            result.append((first, second, bool(is_next)))
            k += 1
    return result
