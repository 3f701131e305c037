# keeps the last id, so that the result has T+1 columns
def shift_right(ids, start_id):
    return F.pad(ids, (1, 0), value=start_id)
