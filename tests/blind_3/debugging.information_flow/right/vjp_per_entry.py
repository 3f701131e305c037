# one torch.autograd.grad for each entry of the output, no jacobian
def information_flow(f, x):
    source = x.detach().clone().requires_grad_(True)
    with torch.enable_grad():
        y = f(source)
    M, width = y.shape
    reaches = torch.zeros(M, source.shape[0], dtype=torch.bool)
    if not y.requires_grad:
        return reaches
    for i in range(M):
        for c in range(width):
            (g,) = torch.autograd.grad(y[i, c], source, retain_graph=True, allow_unused=True)
            if g is not None:
                reaches[i] |= (g != 0).any(dim=-1)
    return reaches
