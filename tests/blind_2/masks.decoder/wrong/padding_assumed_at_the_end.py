# the padding is assumed to stand at the end: columns from the number of real tokens on are hidden (wrong for padding in front)
def decoder_mask(ids, pad_id):
    batch, length = ids.shape
    n_real = [sum(1 for tok in row if tok != pad_id) for row in ids.tolist()]
    mask = torch.zeros(batch, 1, length, length, dtype=torch.bool)
    for b in range(batch):
        for i in range(length):
            mask[b, 0, i, : min(i + 1, n_real[b])] = True
    return mask
