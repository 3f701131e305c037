# all see the global positions, but these do not see all
def local_global_mask(length, window, global_positions):
    i = torch.arange(length)
    near = (i[:, None] - i[None, :]).abs() <= window // 2
    is_global = torch.zeros(length, dtype=torch.bool)
    is_global[global_positions] = True
    return near | is_global[None, :]
