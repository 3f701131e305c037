def shift_right(ids, start_id):
    shifted = ids.new_empty(ids.shape)
    shifted[:, 0] = start_id
    shifted[:, 1:] = ids[:, :-1]
    return shifted
