# True at the padding (the convention of torch's key_padding_mask) instead of at the real tokens
def padding_mask(ids, pad_id):
    key_padding_mask = (ids == pad_id)
    return key_padding_mask[:, None, None, :]
