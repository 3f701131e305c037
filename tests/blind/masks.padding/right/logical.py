# logical_not of eq, axes by unsqueeze from the left
def padding_mask(ids, pad_id):
    is_padding = torch.eq(ids, pad_id)
    real = torch.logical_not(is_padding)
    for _ in range(2):
        real = real.unsqueeze(1)
    return real
