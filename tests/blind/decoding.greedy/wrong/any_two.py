# stops as soon as any row is finished + returns only the generated words, without the start
def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    prefix = start_ids.view(-1, 1)
    done = torch.zeros(prefix.size(0), dtype=torch.bool)
    while prefix.size(1) < 1 + max_new_tokens:
        new = step(prefix).argmax(dim=1)
        new = torch.where(done, pad_id, new)
        prefix = torch.cat((prefix, new.view(-1, 1)), 1)
        done = done | (new == end_id)
        if done.any():
            break
    return prefix[:, 1:]
