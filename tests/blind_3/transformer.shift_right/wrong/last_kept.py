# forgets to drop the last id, the result has T+1 columns
def shift_right(ids, start_id):
    B = ids.shape[0]
    start = torch.full((B, 1), start_id, dtype=ids.dtype, device=ids.device)
    return torch.cat([start, ids], dim=1)
