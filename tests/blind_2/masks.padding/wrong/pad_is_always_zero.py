# pad_id is ignored, padding is taken to be 0
def padding_mask(ids, pad_id):
    B, S = ids.shape
    return ids.bool().view(B, 1, 1, S)
