# greedy and scoring written out; a table of log-probabilities documents x proposals, then logsumexp over the documents
def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    device = doc_scores.device

    def next_log_probs(reader, ids):
        prefix = torch.tensor([ids], dtype=torch.long, device=device)
        return torch.log_softmax(reader(prefix)[0], dim=-1)

    def propose(reader):
        ids = [start_id]
        while len(ids) - 1 < max_new_tokens:
            ids.append(int(next_log_probs(reader, ids).argmax()))
            if ids[-1] == end_id:
                break
        return ids

    def score(reader, ids):
        total = torch.zeros((), device=device, dtype=doc_scores.dtype)
        for t in range(1, len(ids)):
            total = total + next_log_probs(reader, ids[:t])[ids[t]]
        return total

    with torch.no_grad():
        prior = torch.log_softmax(doc_scores, dim=-1)
        best, best_log_prob = None, None
        for proposal in [propose(reader) for reader in readers]:
            joint = torch.stack([prior[d] + score(reader, proposal) for d, reader in enumerate(readers)])
            log_prob = torch.logsumexp(joint, dim=0).item()
            if best is None or log_prob > best_log_prob:
                best, best_log_prob = proposal, log_prob
    return best, best_log_prob
