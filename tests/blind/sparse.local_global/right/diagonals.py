# fills the diagonals of the band one by one, then rows and columns
def local_global_mask(length, window, global_positions):
    mask = torch.zeros(length, length, dtype=torch.bool)
    reach = min(window // 2, length - 1)
    for offset in range(-reach, reach + 1):
        mask.diagonal(offset).fill_(True)
    for g in global_positions:
        mask[g] = True
        mask[:, g] = True
    return mask
