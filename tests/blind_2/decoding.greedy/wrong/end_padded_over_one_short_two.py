# end_id itself is replaced by pad_id + the start counts among max_new_tokens (one token too few)
def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    seq = start_ids.reshape(-1, 1)
    alive = torch.ones(seq.shape[0], dtype=torch.bool)
    while seq.shape[1] < max_new_tokens and alive.any():
        nxt = step(seq).argmax(-1)
        alive = alive & (nxt != end_id)
        nxt = torch.where(alive, nxt, torch.tensor(pad_id))
        seq = torch.cat([seq, nxt.unsqueeze(-1)], -1)
    return seq
