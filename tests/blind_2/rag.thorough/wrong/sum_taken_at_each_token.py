# scores like RAG-token: the documents are mixed at each token, not once for the whole answer
def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    prior = torch.softmax(doc_scores, 0)

    def score(ids):
        total = 0.0
        for t in range(1, len(ids)):
            prefix = torch.tensor([ids[:t]])
            mix = sum(prior[d] * torch.softmax(r(prefix), -1)[0, ids[t]] for d, r in enumerate(readers))
            total += math.log(mix.item())
        return total

    candidates = []
    for r in readers:
        c = greedy_decode(r, torch.tensor([start_id]), end_id, max_new_tokens, end_id)[0].tolist()
        if c not in candidates:
            candidates.append(c)
    scores = [score(c) for c in candidates]
    i = scores.index(max(scores))
    return candidates[i], scores[i]
