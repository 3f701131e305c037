# asks for the gradient of the sum over the columns of a row, in which the columns can cancel
def information_flow(f, x):
    J = torch.autograd.functional.jacobian(lambda inp: f(inp).sum(dim=-1), x.detach())  # [M,L,E]
    return (J != 0).any(dim=-1)
