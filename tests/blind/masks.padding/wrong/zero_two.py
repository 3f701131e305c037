# takes 0 for the padding whatever pad_id is + only one new axis, shape [B,1,S]
def padding_mask(ids, pad_id=0):
    # nonzero ids are words
    src_mask = ids.bool()
    return src_mask.unsqueeze(-2)
