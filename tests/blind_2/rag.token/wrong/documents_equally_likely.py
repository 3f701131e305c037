# a plain mean over the documents: the scores are not used
def rag_token_log_probs(token_logits, doc_scores, targets):
    results = []
    for b in range(token_logits.shape[0]):
        total = 0.0
        for t in range(targets.shape[1]):
            lp = F.log_softmax(token_logits[b, :, t], dim=-1)[:, targets[b, t]]
            total = total + torch.logsumexp(lp, dim=0) - math.log(lp.shape[0])
        results.append(total)
    return torch.stack(results)
