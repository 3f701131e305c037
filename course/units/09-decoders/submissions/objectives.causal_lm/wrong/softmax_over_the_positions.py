"""Your softmax runs over the positions of the text; the words of the vocabulary compete at each position.

`F.cross_entropy` takes axis 1 for the vocabulary: bringing it there is not the same as renaming it."""


def causal_lm_loss(logits, ids, pad_id):
    wanted = ids[:, 1:]
    real = wanted != pad_id
    losses = -logits[:, :-1].log_softmax(1).gather(-1, wanted[..., None])[..., 0]
    return losses[real].sum() / real.sum().clamp(min=1)
