from tfkit.nn import masked_softmax


def latent_attention(q, c, w_k, w_v, mask=None):
    c = c.unsqueeze(1)
    scores = q @ w_k.transpose(-2, -1) @ c.transpose(-2, -1) * q.size(-1) ** -0.5
    weights = scores.softmax(-1) if mask is None else masked_softmax(scores, mask)
    return weights @ c @ w_v
