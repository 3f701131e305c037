# style: positions compared by broadcasting, padding applied as a product of 0/1 integers
def decoder_mask(ids, pad_id):
    B, T = ids.shape
    where = torch.arange(T, device=ids.device)
    looks, seen = where.view(1, 1, T, 1), where.view(1, 1, 1, T)
    past = (looks - seen >= 0).int()
    real = 1 - torch.eq(ids, pad_id).int()
    return (past * real.view(B, 1, 1, T)).bool()
