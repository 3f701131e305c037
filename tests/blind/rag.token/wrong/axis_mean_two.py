# takes the softmax of the scores over the batch + the mean over the tokens instead of the sum
def rag_token_log_probs(token_logits, doc_scores, targets):
    log_doc = doc_scores.log_softmax(0)
    log_tok = token_logits.log_softmax(-1)
    result = []
    for i in range(len(targets)):
        rows = [log_tok[i, :, t, int(y)] + log_doc[i] for t, y in enumerate(targets[i])]
        result.append(torch.stack(rows).logsumexp(dim=1).mean())
    return torch.stack(result)
