# new tensor full of start_id, then copied column by column
def shift_right(ids, start_id):
    rows, T = ids.shape
    fed = ids.new_full((rows, T), start_id)
    t = 1
    while t < T:
        fed[:, t] = ids[:, t - 1]
        t += 1
    return fed
