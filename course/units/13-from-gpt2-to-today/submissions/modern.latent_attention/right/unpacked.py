from tfkit.nn import scaled_dot_product_attention


def latent_attention(q, c, w_k, w_v, mask=None):
    keys = c[:, None] @ w_k
    values = c[:, None] @ w_v
    output, _ = scaled_dot_product_attention(q, keys, values, mask)
    return output
