# stream n is scored on the word n positions before + padding counts like any word
def future_ngram_loss(logits, targets, pad_id):
    N, B, T, V = logits.shape
    logp = logits.log_softmax(-1)
    means = []
    for n in range(N):
        if n < T:
            lp = logp[n, :, n:]
            y = targets[:, : T - n]
            means.append(-torch.take_along_dim(lp, y[..., None], dim=-1).mean())
    return sum(means) / len(means)
