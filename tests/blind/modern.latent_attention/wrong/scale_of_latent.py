# divides by sqrt(R), the width of c, because the products are taken there
def latent_attention(q, c, w_k, w_v, mask=None):
    R = c.shape[-1]
    q_c = torch.einsum("bhqd,hrd->bhqr", q, w_k)
    scores = torch.einsum("bhqr,bkr->bhqk", q_c, c) / R ** 0.5
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        weights = masked_softmax(scores, mask)
    mean_c = torch.einsum("bhqk,bkr->bhqr", weights, c)
    return torch.einsum("bhqr,hrv->bhqv", mean_c, w_v)
