# takes the k largest of the whole batch, not of each row
def top_k_filter(logits, k):
    flat = logits.reshape(-1)
    best = flat.argsort(descending=True)[:k]
    out = torch.full_like(flat, -math.inf)
    out[best] = flat[best]
    return out.reshape(logits.shape)
