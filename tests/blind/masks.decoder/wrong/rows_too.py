# hides the rows of padding queries as well as the columns
def decoder_mask(ids, pad_id):
    T = ids.shape[1]
    causal = torch.tril(torch.ones(T, T, dtype=torch.bool, device=ids.device))
    real = (ids != pad_id)
    pad = real[:, None, :, None] & real[:, None, None, :]
    return causal & pad
