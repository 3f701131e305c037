# puts the padding on the query axis + keeps the upper triangle instead of the lower
def decoder_mask(ids, pad_id):
    t = ids.shape[-1]
    causal = torch.ones((t, t), device=ids.device).triu() == 1
    padding = ids.ne(pad_id).reshape(-1, 1, t, 1)
    return causal * padding
