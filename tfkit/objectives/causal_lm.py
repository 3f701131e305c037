"""Predict the next token."""

from .label_smoothing import seq2seq_loss


def causal_lm_loss(logits, ids, pad_id):
    """Each position is scored on the token that follows it.

    logits [B,L,V], ids [B,L] -> scalar: the mean over predicted tokens that are not pad_id; over none it is 0
    """
    targets = ids[:, 1:].masked_fill(ids[:, 1:] == pad_id, -100)
    return seq2seq_loss(logits[:, :-1], targets)
