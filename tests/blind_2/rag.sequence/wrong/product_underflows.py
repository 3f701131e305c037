# multiplies the probabilities: right for short answers, -inf for long ones
def rag_sequence_log_probs(token_logits, doc_scores, targets):
    p = F.softmax(token_logits, dim=-1)
    idx = targets[:, None, :, None].expand(-1, p.size(1), -1, 1)
    p_y = torch.gather(p, 3, idx)[..., 0].prod(dim=-1)
    p_d = F.softmax(doc_scores, dim=-1)
    return torch.log((p_d * p_y).sum(dim=1))
