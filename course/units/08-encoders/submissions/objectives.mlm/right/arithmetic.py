def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    chosen = (select_u < rate).long() * (1 - special.long())
    mask = chosen * (kind_u < 0.8).long()
    keep = 1 - chosen * (kind_u < 0.9).long()
    swap = 1 - mask - keep
    return ids * keep + mask_id * mask + random_ids * swap, ids * chosen - 100 * (1 - chosen)
