# divides the scores by sqrt(C), the width of c, instead of sqrt(D)
def latent_attention(q, c, w_k, w_v, mask=None):
    qc = torch.einsum("bhqd,hcd->bhqc", q, w_k)
    s = torch.einsum("bhqc,bkc->bhqk", qc, c) / c.shape[-1] ** 0.5
    if mask is None:
        mask = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=q.device)
    a = masked_softmax(s, mask)
    z = torch.einsum("bhqk,bkc->bhqc", a, c)
    return torch.einsum("bhqc,hcv->bhqv", z, w_v)
