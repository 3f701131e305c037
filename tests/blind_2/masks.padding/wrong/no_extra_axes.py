# shape [B,S] instead of [B,1,1,S]
def padding_mask(ids, pad_id):
    return ids != pad_id
