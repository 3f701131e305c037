import torch
import torch.nn.functional as F


def future_ngram_loss(logits, targets, pad_id):
    n_streams, _, length, vocab = logits.shape
    losses = []
    for n in range(min(n_streams, length)):
        predicted = logits[n, :, : length - n].reshape(-1, vocab)
        wanted = targets[:, n:].reshape(-1)
        if (wanted != pad_id).any():
            losses.append(F.cross_entropy(predicted, wanted, ignore_index=pad_id))
    if not losses:
        return 0 * logits.sum()
    return sum(losses) / len(losses)
