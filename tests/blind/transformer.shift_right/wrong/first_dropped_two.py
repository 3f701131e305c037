# drops the first id instead of the last + the start column is float, which makes all ids float
def shift_right(ids, start_id):
    bos = torch.ones(len(ids), 1) * start_id
    return torch.hstack([bos, ids[:, 1:]])
