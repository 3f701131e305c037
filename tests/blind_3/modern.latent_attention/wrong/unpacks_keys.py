# unpacks the keys and values of all tokens for every head, which is what must not be done
def latent_attention(q, c, w_k, w_v, mask=None):
    k = torch.einsum("bkc,hcd->bhkd", c, w_k)
    v = torch.einsum("bkc,hcd->bhkd", c, w_v)
    out, weights = scaled_dot_product_attention(q, k, v, mask)
    return out
