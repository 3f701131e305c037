# special tokens can be selected too + the random word is taken from 0.9 on, and between 0.8 and 0.9 the word stays
def mask_tokens(ids, special, mask_id, select_u, kind_u, random_ids, rate=0.15):
    inputs, labels = ids.clone(), ids.clone()
    B, S = ids.shape
    for b in range(B):
        for s in range(S):
            if select_u[b, s] < rate:
                if kind_u[b, s] < 0.8:
                    inputs[b, s] = mask_id
                elif kind_u[b, s] >= 0.9:
                    inputs[b, s] = random_ids[b, s]
            else:
                labels[b, s] = -100
    return inputs, labels
