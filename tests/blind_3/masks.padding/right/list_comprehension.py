# plain python lists, then a tensor and a view
def padding_mask(ids, pad_id):
    batch, seq = ids.shape
    flags = []
    for sentence in ids.tolist():
        flags.append([token != pad_id for token in sentence])
    m = torch.tensor(flags, dtype=torch.bool, device=ids.device)
    return m.view(batch, 1, 1, seq)
