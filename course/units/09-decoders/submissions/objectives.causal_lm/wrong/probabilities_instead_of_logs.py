"""You average how far the probabilities are from one; a language model is trained on their logarithms.

The logarithm of a text's probability is a sum over its words. Nothing else adds up like that."""


def causal_lm_loss(logits, ids, pad_id):
    wanted = ids[:, 1:]
    real = wanted != pad_id
    losses = 1 - logits[:, :-1].softmax(-1).gather(-1, wanted[..., None])[..., 0]
    return losses[real].sum() / real.sum().clamp(min=1)
