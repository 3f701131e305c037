# only global positions see each other, row AND column + the distance must be smaller than window // 2
def local_global_mask(length, window, global_positions):
    r = torch.arange(length)
    d = torch.abs(r.unsqueeze(0) - r.unsqueeze(1))
    g = torch.tensor([p in global_positions for p in range(length)])
    local = d < window // 2
    return torch.logical_or(local, torch.logical_and(g.unsqueeze(0), g.unsqueeze(1)))
