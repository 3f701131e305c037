# takes window for each side instead of both sides together
def local_global_mask(length, window, global_positions):
    i = torch.arange(length)
    local = (i[:, None] - i[None, :]).abs() <= window
    is_global = torch.zeros(length, dtype=torch.bool)
    is_global[global_positions] = True
    return local | is_global[:, None] | is_global[None, :]
