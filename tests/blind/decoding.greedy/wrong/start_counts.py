# looks for end_id in the whole row, so that a start symbol equal to end_id finishes it at once
def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    ids = start_ids[:, None]
    for _ in range(max_new_tokens):
        done = (ids == end_id).any(dim=1)
        if done.all():
            break
        nxt = step(ids).argmax(-1)
        nxt = torch.where(done, torch.full_like(nxt, pad_id), nxt)
        ids = torch.cat([ids, nxt[:, None]], dim=1)
    return ids
