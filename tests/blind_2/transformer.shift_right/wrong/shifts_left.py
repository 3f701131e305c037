# shifts left: drops the first id and appends the start symbol at the end
def shift_right(ids, start_id):
    start = torch.full((ids.shape[0], 1), start_id, dtype=ids.dtype, device=ids.device)
    return torch.cat([ids[:, 1:], start], dim=1)
