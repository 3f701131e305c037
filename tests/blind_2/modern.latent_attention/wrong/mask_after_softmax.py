# the mask is multiplied after the softmax, so the weights do not sum to one
def latent_attention(q, c, w_k, w_v, mask=None):
    d = q.size(-1)
    q_latent = torch.matmul(q, w_k.transpose(-1, -2))
    latent = c[:, None]
    weights = F.softmax(q_latent @ latent.transpose(-1, -2) / (d ** 0.5), dim=-1)
    if mask is not None:
        weights = weights * mask
    return (weights @ latent) @ w_v
