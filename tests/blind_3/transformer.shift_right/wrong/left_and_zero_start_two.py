# shifted to the left (the decoder sees the next word) + padded with 0 instead of start_id
def shift_right(ids, start_id):
    # F.pad with a negative number cuts
    shifted = F.pad(ids, (-1, 1), value=0)
    return shifted
