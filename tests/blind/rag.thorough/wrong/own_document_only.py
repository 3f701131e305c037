# scores each proposal with its own document only: p(d) p(y|d) without the sum over the others
def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    log_prior = F.log_softmax(doc_scores, dim=0)
    best_ids, best_lp = None, -float("inf")
    for d, reader in enumerate(readers):
        ids = [start_id]
        lp = log_prior[d].item()
        for _ in range(max_new_tokens):
            logp = F.log_softmax(reader(torch.tensor([ids]))[0], dim=-1)
            tok = logp.argmax().item()
            lp += logp[tok].item()
            ids.append(tok)
            if tok == end_id:
                break
        if lp > best_lp:
            best_ids, best_lp = ids, lp
    return best_ids, best_lp
