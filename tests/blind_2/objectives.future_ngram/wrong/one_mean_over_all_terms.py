# one mean over all predictions of all streams instead of a mean for each stream
def future_ngram_loss(logits, targets, pad_id):
    N, B, T, V = logits.shape
    total = logits.sum() * 0
    count = 0
    for n in range(N):
        if n >= T:
            break
        t = targets[:, n:]
        lg = logits[n, :, :T - n]
        ce = F.cross_entropy(lg.reshape(-1, V), t.reshape(-1), ignore_index=pad_id, reduction="sum")
        total = total + ce
        count += int((t != pad_id).sum())
    return total / max(count, 1)
