# stacks the three possible inputs and picks one of them by its number
def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    chosen = (select_u < rate).logical_and(special.logical_not())
    candidates = torch.stack([torch.full_like(ids, mask_id), random_ids.to(ids.dtype), ids], dim=-1)
    number = 2 - (kind_u < 0.8).long() - (kind_u < 0.9).long()
    number = number.masked_fill(~chosen, 2)
    inputs = candidates.gather(-1, number.unsqueeze(-1)).squeeze(-1)
    labels = ids.masked_fill(~chosen, -100)
    return inputs, labels
