# style: every row separately in a Python loop, words added until the sum reaches p
def _nucleus(row, p):
    order = row.argsort(descending=True).tolist()
    probs = row.softmax(0).tolist()
    kept, total = [], 0.0
    for w in order:
        kept.append(w)
        total += probs[w]
        if total >= p:
            break
    new = torch.full_like(row, -math.inf)
    new[kept] = row[kept]
    return new


def top_p_filter(logits, p):
    flat = logits.reshape(-1, logits.shape[-1])
    return torch.stack([_nucleus(r, p) for r in flat]).reshape(logits.shape)
