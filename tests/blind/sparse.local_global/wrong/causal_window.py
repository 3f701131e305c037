# the window looks only to the left, as in a language model
def local_global_mask(length, window, global_positions):
    ones = torch.ones(length, length, dtype=torch.bool)
    mask = torch.tril(ones) & torch.triu(ones, diagonal=-(window // 2))
    for g in global_positions:
        mask[g, :] = True
        mask[:, g] = True
    return mask
