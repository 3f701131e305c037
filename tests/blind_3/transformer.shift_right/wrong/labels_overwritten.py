# shifts inside ids itself, so the labels are destroyed
def shift_right(ids, start_id):
    T = ids.size(1)
    for t in range(T - 1, 0, -1):
        ids[:, t] = ids[:, t - 1]
    ids[:, 0] = start_id
    return ids
