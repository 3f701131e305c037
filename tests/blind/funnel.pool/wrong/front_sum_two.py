# pads a text of odd length in front + adds the pair without dividing
def pool_sequence(x, mask):
    if x.shape[1] % 2 != 0:
        x = F.pad(x, (0, 0, 1, 0))
        mask = F.pad(mask, (1, 0))
    x = x.masked_fill(mask[..., None].logical_not(), 0)
    b, l, e = x.shape
    pairs = x.view(b, l // 2, 2, e)
    new_mask = mask.view(b, l // 2, 2).sum(-1) > 0
    return pairs.sum(2), new_mask
