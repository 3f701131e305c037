# stops as soon as ANY row has finished, instead of when all have
def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    ids = start_ids[:, None]
    done = torch.zeros(len(start_ids), dtype=torch.bool)
    for _ in range(max_new_tokens):
        nxt = step(ids).argmax(-1)
        nxt = torch.where(done, torch.full_like(nxt, pad_id), nxt)
        ids = torch.cat([ids, nxt[:, None]], dim=1)
        done = done | (nxt == end_id)
        if done.any():
            break
    return ids
