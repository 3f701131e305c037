# each proposal is scored only by the document that proposed it (the paper's fast shortcut without the others)
def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    log_prior = F.log_softmax(doc_scores, dim=0)
    best_ids, best_lp = None, -math.inf
    for d, reader in enumerate(readers):
        ids = greedy_decode(reader, torch.tensor([start_id]), end_id, max_new_tokens, end_id)[0].tolist()
        lp = log_prior[d]
        for t in range(1, len(ids)):
            lp = lp + F.log_softmax(reader(torch.tensor([ids[:t]])), -1)[0, ids[t]]
        if lp.item() > best_lp:
            best_ids, best_lp = ids, lp.item()
    return best_ids, best_lp
