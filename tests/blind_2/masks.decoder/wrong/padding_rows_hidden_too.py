# hides the rows of padding queries as well as the columns
def decoder_mask(ids, pad_id):
    ok = ids.ne(pad_id)
    pairs = ok[:, :, None] & ok[:, None, :]
    return pairs.tril().unsqueeze(1)
