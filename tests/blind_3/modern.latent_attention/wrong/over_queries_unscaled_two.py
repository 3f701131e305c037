# the softmax is over the queries instead of the keys + the scores are not divided by sqrt(D)
def latent_attention(q, c, w_k, w_v, mask=None):
    qq = torch.einsum("bhqd,hcd->bhqc", q, w_k)
    scores = torch.einsum("bhqc,bkc->bhqk", qq, c)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    p = torch.softmax(scores, dim=2)
    if mask is not None:
        p = p * mask
    mean_c = torch.einsum("bhqk,bkc->bhqc", p, c)
    return torch.einsum("bhqc,hcv->bhqv", mean_c, w_v)
