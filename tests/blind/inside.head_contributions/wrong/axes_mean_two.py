# the head axis stands after the queries, [B,Q,H,E] + divided by the number of heads
def head_contributions(weights, v, w_o):
    heads = torch.einsum("bhqk,bhkd->bqhd", weights, v)
    H, D = heads.shape[2:]
    blocks = torch.stack(w_o.split(D, dim=1))          # [H,E,D]
    return torch.einsum("bqhd,hed->bqhe", heads, blocks) / H
