# takes the head's rows of w_o instead of its columns
def head_contributions(weights, v, w_o):
    H, D = v.shape[1], v.shape[-1]
    out = weights @ v
    per_head = w_o.reshape(H, D, -1)
    return torch.einsum("bhqd,hde->bhqe", out, per_head)
