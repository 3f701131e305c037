import torch


def future_ngram_loss(logits, targets, pad_id):
    means = []
    for n in range(logits.size(0)):
        terms = []
        for row in range(targets.size(0)):
            for t in range(targets.size(1) - n):
                word = targets[row, t + n]
                if word != pad_id:
                    scores = logits[n, row, t]
                    terms.append(torch.logsumexp(scores, 0) - scores[word])
        if terms:
            means.append(torch.stack(terms).mean())
    return torch.stack(means).mean() if means else logits.new_zeros(())
