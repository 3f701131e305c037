# the k largest of the whole batch instead of the k largest of each row
def top_k_filter(logits, k):
    threshold = logits.reshape(-1).topk(k)[0][-1]
    out = logits.clone()
    out[out < threshold] = -float("inf")
    return out
