# the first id is replaced by the start symbol, the others are not moved
def shift_right(ids, start_id):
    out = ids.clone()
    out[:, 0] = start_id
    return out
