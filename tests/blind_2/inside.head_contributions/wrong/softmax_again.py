# applies a softmax to the weights, which are already weights
def head_contributions(weights, v, w_o):
    h, d = v.size(1), v.size(-1)
    att = torch.softmax(weights, dim=-1)
    w = w_o.view(w_o.size(0), h, d)
    return torch.einsum("bhqk,bhkd,ehd->bhqe", att, v, w)
