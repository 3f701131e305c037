# True for the padding (key_padding_mask convention of nn.MultiheadAttention)
def padding_mask(ids, pad_id):
    m = torch.eq(ids, pad_id)
    m = m.unsqueeze(1)
    m = m.unsqueeze(1)
    return m
