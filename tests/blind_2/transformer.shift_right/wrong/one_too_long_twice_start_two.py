# the last id is not dropped ([B,T+1]) + the first id is lost, the start symbol stands twice
def shift_right(ids, start_id):
    B, T = ids.shape
    res = torch.full((B, T + 1), start_id).to(ids)
    res[:, 2:] = ids[:, 1:]
    return res
