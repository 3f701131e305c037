# hides the rows (queries) of the padding instead of the columns: shape [B,1,S,1]
def padding_mask(ids, pad_id):
    B, S = ids.shape
    mask = ids != pad_id
    return mask.view(B, 1, S, 1)
