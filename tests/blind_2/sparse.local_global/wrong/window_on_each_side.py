# window is taken for each side instead of both together
def local_global_mask(length, window, global_positions):
    ones = torch.ones(length, length)
    band = torch.tril(torch.triu(ones, -window), window).bool()
    for p in global_positions:
        band[p, :] = True
        band[:, p] = True
    return band
