"""Future n-gram prediction (Qi et al. 2020, arXiv:2001.04063): not only the next word, the one after it too."""

import torch

from .label_smoothing import seq2seq_loss


def future_ngram_loss(logits, targets, pad_id):
    """Stream n at place t is scored on the word n places beyond the next.

    logits [N,B,T,V], targets [B,T] (targets[:, t]: what stream 0 predicts at t) -> scalar: the mean over streams of
    each stream's mean; a stream with nothing to predict is left out. ProphetNet's own code shifts in its attention.
    """
    targets = targets.masked_fill(targets == pad_id, -100)
    losses = []
    for n, stream in enumerate(logits):
        future = targets[:, n:]
        if (future != -100).any():
            losses.append(seq2seq_loss(stream[:, : future.size(1)], future))
    return torch.stack(losses).mean() if losses else logits.sum() * 0.0
