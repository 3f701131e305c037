# the result is [L,M] with inputs as rows (transposed) + only column 0 of each output row is asked
def information_flow(f, x):
    jac = torch.autograd.functional.jacobian(f, x.detach())  # [M,F,L,E]
    first = jac[:, 0]
    hit = first.ne(0).any(-1)
    return hit.T
