import torch


def information_flow(f, x):
    jacobian = torch.autograd.functional.jacobian(f, x)  # [M,F,L,E]
    return jacobian.ne(0).any(dim=3).any(dim=1)
