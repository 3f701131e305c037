# style: greedy decoding and the sum over documents by hand, with python floats
def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    def next_log_probs(reader, ids):
        prefix = torch.tensor([ids], dtype=torch.long, device=doc_scores.device)
        return reader(prefix)[0].detach().double().log_softmax(-1)

    prior = doc_scores.detach().double().log_softmax(0).tolist()
    proposals = []
    for reader in readers:
        ids = [int(start_id)]
        for _ in range(max_new_tokens):
            token = int(next_log_probs(reader, ids).argmax())
            ids.append(token)
            if token == end_id:
                break
        proposals.append(ids)

    best, best_lp = None, None
    for ids in proposals:
        terms = []
        for d, reader in enumerate(readers):
            total = prior[d]
            for t in range(1, len(ids)):
                total += float(next_log_probs(reader, ids[:t])[ids[t]])
            terms.append(total)
        m = max(terms)
        lp = m if m == -math.inf else m + math.log(sum(math.exp(x - m) for x in terms))
        if best is None or lp > best_lp:
            best, best_lp = ids, lp
    return best, best_lp
