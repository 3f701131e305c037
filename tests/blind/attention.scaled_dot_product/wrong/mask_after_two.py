# zeroes the hidden weights after the softmax without renormalising + scales by the number of keys instead of the width
def scaled_dot_product_attention(q, k, v, mask=None):
    n = k.shape[-2]
    scores = q @ k.transpose(-1, -2)
    scores = scores / math.sqrt(n)
    weights = nn.Softmax(dim=-1)(scores)
    if mask is not None:
        weights = weights * mask
    output = weights @ v
    return output, weights
