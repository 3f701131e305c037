# cuts w_o into rows instead of columns
def head_contributions(weights, v, w_o):
    H, D = v.shape[1], v.shape[-1]
    parts = []
    for h in range(H):
        z = weights[:, h] @ v[:, h]
        parts.append(z @ w_o[h * D:(h + 1) * D, :])
    return torch.stack(parts, dim=1)
