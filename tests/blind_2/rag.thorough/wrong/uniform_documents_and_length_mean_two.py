# the documents are weighted equally instead of by softmax(doc_scores) + the log probabilities of a document are divided by the length
def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    D = len(readers)
    best = ([start_id], float("-inf"))
    for reader in readers:
        ids = torch.tensor([[start_id]])
        for _ in range(max_new_tokens):
            nxt = reader(ids).argmax(-1)
            ids = torch.cat([ids, nxt[:, None]], dim=1)
            if nxt.item() == end_id:
                break
        lps = []
        for other in readers:
            lp = 0.0
            for t in range(1, ids.shape[1]):
                lp += other(ids[:, :t]).log_softmax(-1)[0, ids[0, t]].item()
            lps.append(lp / (ids.shape[1] - 1))
        total = torch.logsumexp(torch.tensor(lps), dim=0).item() - math.log(D)
        if total > best[1]:
            best = (ids[0].tolist(), total)
    return best
