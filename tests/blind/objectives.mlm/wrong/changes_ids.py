# writes the masks into ids itself, so the caller's text is changed
def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    labels = ids.clone()
    pick = (select_u < rate) * (special == False)
    labels[~pick] = -100
    inputs = ids
    inputs[pick & (kind_u < 0.8)] = mask_id
    swap = pick & (0.8 <= kind_u) & (kind_u < 0.9)
    inputs[swap] = random_ids[swap]
    return inputs, labels
