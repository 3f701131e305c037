# doc_scores are used as log-probabilities without softmax + token log-probabilities are averaged over the length
def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    candidates = []
    for r in readers:
        seq = torch.tensor([[start_id]], device=doc_scores.device)
        for step in range(max_new_tokens):
            nxt = r(seq).argmax(-1, keepdim=True)
            seq = torch.cat([seq, nxt], dim=1)
            if nxt.item() == end_id:
                break
        candidates.append(seq)

    def log_p(seq):
        out = []
        for d, r in enumerate(readers):
            lps = [r(seq[:, :t]).log_softmax(-1)[0, seq[0, t]] for t in range(1, seq.shape[1])]
            out.append(doc_scores[d] + torch.stack(lps).mean())
        return torch.stack(out).logsumexp(0).item()

    best = max(candidates, key=log_p)
    return best[0].tolist(), log_p(best)
