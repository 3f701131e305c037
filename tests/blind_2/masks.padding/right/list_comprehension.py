# style: nested lists in Python, a tensor at the end
def padding_mask(ids, pad_id):
    flags = [[tok != pad_id for tok in sentence] for sentence in ids.tolist()]
    return torch.tensor(flags, dtype=torch.bool, device=ids.device).reshape(ids.shape[0], 1, 1, ids.shape[1])
