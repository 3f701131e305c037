# p is a threshold for each single probability (relative to the largest) instead of for the sum
def top_p_filter(logits, p):
    probs = logits.softmax(-1)
    largest = probs.max(-1, keepdim=True).values
    return torch.where(probs >= (1 - p) * largest, logits, torch.full_like(logits, -math.inf))
