# adds the same number to all columns of a row, which a layer norm takes away again
def information_flow(f, x):
    with torch.no_grad():
        base = f(x)
        flow = torch.zeros(base.shape[0], x.shape[0], dtype=torch.bool)
        for j in range(x.shape[0]):
            changed = x.clone()
            changed[j] += 1.0
            out = f(changed)
            flow[:, j] = ((out - base).abs() > 1e-5).any(dim=1)
    return flow
