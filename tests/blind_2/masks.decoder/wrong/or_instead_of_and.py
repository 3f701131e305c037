# the two masks are joined with "or" instead of "and"
def decoder_mask(ids, pad_id):
    T = ids.size(1)
    causal = torch.tril(torch.ones(T, T, dtype=torch.bool, device=ids.device))
    padding = (ids != pad_id).unsqueeze(1).unsqueeze(2)
    return causal | padding
