# counts the real tokens and takes the padding to be at the end
def decoder_mask(ids, pad_id):
    lengths = (ids != pad_id).sum(dim=1)
    T = ids.size(1)
    steps = torch.arange(T, device=ids.device)
    padding = steps[None, :] < lengths[:, None]
    causal = steps[:, None] >= steps[None, :]
    return padding.unsqueeze(1).unsqueeze(1) & causal.unsqueeze(0).unsqueeze(0)
