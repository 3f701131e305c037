# shifts to the left: the decoder would read the word after the one it predicts
def shift_right(ids, start_id):
    B = ids.shape[0]
    start = torch.full((B, 1), start_id, dtype=ids.dtype, device=ids.device)
    return torch.cat((ids[:, 1:], start), dim=1)
