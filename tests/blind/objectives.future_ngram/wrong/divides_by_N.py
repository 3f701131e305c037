# always divides by N, also when a stream has nothing to predict
def future_ngram_loss(logits, targets, pad_id):
    N, B, T, V = logits.shape
    loss = logits.sum() * 0
    for n in range(N):
        if n >= T:
            break
        pred = logits[n, :, :T - n].reshape(-1, V)
        gold = targets[:, n:].reshape(-1)
        n_words = (gold != pad_id).sum()
        if n_words > 0:
            loss = loss + F.cross_entropy(pred, gold, ignore_index=pad_id, reduction="sum") / n_words
    return loss / N
