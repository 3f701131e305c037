# style: a loop over the heads with a slice of columns each
def head_contributions(weights, v, w_o):
    H, D = v.shape[1], v.shape[3]
    pieces = []
    for h in range(H):
        mixed = torch.bmm(weights[:, h], v[:, h])  # [B,Q,D]
        columns = w_o[:, h * D : (h + 1) * D]  # [E,D]
        pieces.append(F.linear(mixed, columns))
    return torch.stack(pieces, dim=1)
