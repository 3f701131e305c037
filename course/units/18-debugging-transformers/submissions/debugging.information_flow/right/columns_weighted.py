import torch


def information_flow(f, x):
    inputs = x.clone().requires_grad_(True)
    outputs = f(inputs)
    weights = torch.rand(outputs.shape[1], generator=torch.Generator().manual_seed(1))
    flow = torch.zeros(len(outputs), len(inputs), dtype=torch.bool, device=x.device)
    for i in range(len(outputs)):
        (gradient,) = torch.autograd.grad(outputs[i] @ weights.to(outputs), inputs, retain_graph=True)
        flow[i] = gradient.abs().amax(-1) > 0
    return flow
