# k + 1 words stay instead of k + returns probabilities instead of logits
def top_k_filter(logits, k):
    ranked, _ = logits.sort(dim=-1, descending=True)
    limit = ranked[..., : k + 1][..., -1:]
    cut = logits.masked_fill(logits < limit, -math.inf)
    return cut.softmax(dim=-1)
