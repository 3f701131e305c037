# keeps words with at least 1-p of the best word's probability (min-p), not a set with total probability p
def top_p_filter(logits, p):
    prob = logits.exp() / logits.exp().sum(-1, keepdim=True)
    best, _ = prob.max(-1, keepdim=True)
    new = logits.clone()
    new[prob < (1 - p) * best] = float("-inf")
    return new
