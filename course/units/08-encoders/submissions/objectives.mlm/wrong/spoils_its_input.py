"""You write the masks into the text that you were given: at the next epoch they are still there, and the words are lost."""


def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    chosen = (select_u < rate) & ~special
    labels = ids.masked_fill(~chosen, -100)
    swapped = chosen & (kind_u >= 0.8) & (kind_u < 0.9)
    ids[swapped] = random_ids[swapped]
    ids[chosen & (kind_u < 0.8)] = mask_id
    return ids, labels
