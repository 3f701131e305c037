# the first id is replaced by the start symbol, nothing is shifted
def shift_right(ids, start_id):
    out = ids.clone()
    out[:, 0] = start_id
    return out
