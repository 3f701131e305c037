# boolean selection per stream, list of means, sum(list)/len(list)
def future_ngram_loss(logits, targets, pad_id):
    N, B, T, V = logits.shape
    means = []
    for n in range(min(N, T)):
        y = targets[:, n:].flatten()
        z = logits[n, :, : T - n].flatten(0, 1)
        real = y.ne(pad_id)
        if not bool(real.any()):
            continue
        lp = torch.log_softmax(z[real], dim=1)
        means.append(-lp.gather(1, y[real][:, None]).mean())
    if means:
        return sum(means) / len(means)
    return (logits * 0.0).sum()
