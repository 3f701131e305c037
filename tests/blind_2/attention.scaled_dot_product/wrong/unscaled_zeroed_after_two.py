# no scaling by sqrt(D) at all + hidden weights set to zero after the softmax, without renormalising
def scaled_dot_product_attention(q, k, v, mask=None):
    logits = q @ k.transpose(-1, -2)
    p = torch.softmax(logits, -1)
    if mask is not None:
        p = p * mask.float()
    return p @ v, p
