# True marks the padding instead of the real tokens + only three axes, [B,1,S]
def padding_mask(ids, pad_id):
    is_pad = torch.eq(ids, pad_id)
    return torch.unsqueeze(is_pad, dim=1)
