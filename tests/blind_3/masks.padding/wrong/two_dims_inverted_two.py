# shape [B,S] instead of [B,1,1,S] + True for the padding
def padding_mask(ids, pad_id):
    out = torch.zeros_like(ids, dtype=torch.bool)
    out[ids == pad_id] = True
    return out
