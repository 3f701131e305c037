"""Your logarithm is taken after the softmax, whose small values have been rounded to zero by then.

With large logits the loss is infinite; `log_softmax` does both at once."""


def causal_lm_loss(logits, ids, pad_id):
    wanted = ids[:, 1:]
    real = wanted != pad_id
    losses = -logits[:, :-1].softmax(-1).log().gather(-1, wanted[..., None])[..., 0]
    return losses[real].sum() / real.sum().clamp(min=1)
