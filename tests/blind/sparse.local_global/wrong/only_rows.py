# global positions see all, but not all positions see them (no columns)
def local_global_mask(length, window, global_positions):
    half = window // 2
    mask = torch.zeros((length, length), dtype=torch.bool)
    for i in range(length):
        if i in global_positions:
            mask[i, :] = True
        else:
            mask[i, max(0, i - half):i + half + 1] = True
    return mask
