# rows and columns changed over: a position sees the later steps instead of the earlier ones
def permutation_masks(order):
    n = order.numel()
    step_of = torch.empty_like(order)
    step_of[order] = torch.arange(n)
    earlier = step_of[:, None] < step_of[None, :]
    return earlier | torch.eye(n, dtype=torch.bool), earlier
