# scaled by sqrt(C), the width of c, instead of sqrt(D), as scaled_dot_product_attention is called in the space of c
def latent_attention(q, c, w_k, w_v, mask=None):
    qc = q @ w_k.transpose(-1, -2)
    c = c.unsqueeze(1)
    out, _ = scaled_dot_product_attention(qc, c.expand(-1, q.shape[1], -1, -1), c.expand(-1, q.shape[1], -1, -1), mask)
    return out @ w_v
