# rival minus target + every part is divided by its own root mean square
def direct_attribution(parts, unembed, target, rival):
    normed = parts / parts.pow(2).mean(-1, keepdim=True).add(1e-6).sqrt()
    diff = unembed.index_select(0, rival.flatten()) - unembed.index_select(0, target.flatten())
    diff = diff.view(*target.shape, -1)
    return torch.matmul(normed.unsqueeze(-2), diff.unsqueeze(-1))[..., 0, 0]
