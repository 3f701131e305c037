# a case number for each position (0 untouched, 1 mask, 2 random, 3 kept), then torch.where
def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    picked = torch.logical_and(select_u < rate, torch.logical_not(special))
    case = 3 - (kind_u < 0.9).long() - (kind_u < 0.8).long()     # 1, 2 or 3
    case = case * picked.long()
    inputs = torch.where(case == 1, torch.full_like(ids, mask_id), torch.where(case == 2, random_ids, ids))
    labels = torch.where(case > 0, ids, torch.full_like(ids, -100))
    return inputs, labels
