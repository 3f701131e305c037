# shifts the flattened batch: each row begins with the last id of the row before, only the very first gets the start symbol
def shift_right(ids, start_id):
    flat = ids.reshape(-1)
    moved = torch.empty_like(flat)
    moved[1:] = flat[:-1]
    moved[0] = start_id
    return moved.view(ids.shape)
