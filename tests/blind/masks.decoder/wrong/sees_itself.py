# always leaves the diagonal open, so a padding position can see itself
def decoder_mask(ids, pad_id):
    B, T = ids.shape
    mask = torch.zeros(B, 1, T, T, dtype=torch.bool, device=ids.device)
    for b in range(B):
        for q in range(T):
            for k in range(q + 1):
                mask[b, 0, q, k] = bool(ids[b, k] != pad_id) or k == q
    return mask
