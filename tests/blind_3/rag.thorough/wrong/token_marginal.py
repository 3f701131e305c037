# scores the proposals with RAG-token: the documents are mixed at every token
def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    logp_d = F.log_softmax(doc_scores, dim=0)
    start = torch.tensor([start_id], device=doc_scores.device)
    best = (None, -math.inf)
    for reader in readers:
        ids = greedy_decode(reader, start, end_id, max_new_tokens, end_id)
        lp = 0.0
        for t in range(1, ids.shape[1]):
            per_doc = torch.stack([F.log_softmax(r(ids[:, :t])[0], -1)[ids[0, t]] for r in readers])
            lp += torch.logsumexp(logp_d + per_doc, 0).item()
        if best[0] is None or lp > best[1]:
            best = (ids[0].tolist(), lp)
    return best
