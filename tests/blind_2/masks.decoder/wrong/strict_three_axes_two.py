# a position may not see itself (diagonal excluded) + result is [B,T,T] without the head axis
def decoder_mask(ids, pad_id):
    T = ids.shape[-1]
    no_future = ~torch.triu(torch.ones(T, T)).bool()
    no_pad = (ids != pad_id)[:, None, :]
    return no_future[None] & no_pad
