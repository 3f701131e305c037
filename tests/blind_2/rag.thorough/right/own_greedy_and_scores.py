# writes its own greedy loop and scores with plain python lists, logsumexp at the end
def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    log_pd = doc_scores - torch.logsumexp(doc_scores, 0)

    def next_logp(reader, prefix):
        logits = reader(torch.tensor([prefix], dtype=torch.long))
        return logits[0] - torch.logsumexp(logits[0], 0)

    def propose(reader):
        ids = [start_id]
        for _ in range(max_new_tokens):
            ids.append(int(next_logp(reader, ids).argmax()))
            if ids[-1] == end_id:
                break
        return ids

    def log_p(ids):
        per_doc = []
        for d, reader in enumerate(readers):
            total = log_pd[d]
            for t in range(1, len(ids)):
                total = total + next_logp(reader, ids[:t])[ids[t]]
            per_doc.append(total)
        return torch.logsumexp(torch.stack(per_doc), 0).item()

    best = None
    for reader in readers:
        ids = propose(reader)
        score = log_p(ids)
        if best is None or score > best[1]:
            best = (ids, score)
    return best
