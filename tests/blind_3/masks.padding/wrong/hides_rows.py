# hides the rows (queries) of the padding instead of the columns: shape [B,1,S,1]
def padding_mask(ids, pad_id):
    real = ids != pad_id
    return real[:, None, :, None]
