# multiplies the probabilities and takes the logarithm at the end: 0 for long answers
def rag_sequence_log_probs(token_logits, doc_scores, targets):
    p_tokens = token_logits.softmax(-1)
    p_docs = doc_scores.softmax(-1)
    result = []
    for b in range(len(targets)):
        p = 0
        for d in range(doc_scores.shape[1]):
            steps = p_tokens[b, d, torch.arange(targets.shape[1]), targets[b]]
            p = p + p_docs[b, d] * steps.prod()
        result.append(torch.log(p))
    return torch.stack(result)
