# ignores pad_id and takes 0 as padding
def padding_mask(ids, pad_id=0):
    B = ids.size(0)
    return ids.bool().reshape(B, 1, 1, -1)
