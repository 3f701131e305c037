# a buffer of pad_id that is filled column by column, only in the rows still alive, and cut at the end
def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    n_rows = start_ids.shape[0]
    buffer = torch.full((n_rows, 1 + max_new_tokens), pad_id, dtype=start_ids.dtype, device=start_ids.device)
    buffer[:, 0] = start_ids
    alive = torch.ones(n_rows, dtype=torch.bool, device=start_ids.device)
    t = 1
    while t <= max_new_tokens and bool(alive.any()):
        best = step(buffer[:, :t].clone()).max(dim=-1).indices.to(buffer.dtype)
        buffer[alive, t] = best[alive]
        alive = alive & (best != end_id)
        t += 1
    return buffer[:, :t]
