# overwrites the labels: works in place on ids
def shift_right(ids, start_id):
    ids[:, 1:] = ids[:, :-1].clone()
    ids[:, 0] = start_id
    return ids
