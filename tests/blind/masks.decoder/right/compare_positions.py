# compares position numbers by broadcasting, no tril
def decoder_mask(ids, pad_id):
    n_rows, length = ids.shape
    place = torch.arange(length, device=ids.device)
    not_future = place.view(1, 1, 1, length) <= place.view(1, 1, length, 1)
    real_key = torch.ne(ids, pad_id)[:, None, None, :]
    return torch.logical_and(not_future, real_key).expand(n_rows, 1, length, length).clone()
