# style: one Python list per row, a set of open rows, a tensor only for step() and at the end
def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    rows = [[s] for s in start_ids.tolist()]
    still_open = set(range(len(rows)))
    while still_open and len(rows[0]) - 1 < max_new_tokens:
        prefix = torch.tensor(rows, dtype=start_ids.dtype, device=start_ids.device)
        best = step(prefix).argmax(dim=-1).tolist()
        for n, row in enumerate(rows):
            if n not in still_open:
                row.append(pad_id)
                continue
            row.append(best[n])
            if best[n] == end_id:
                still_open.discard(n)
    return torch.tensor(rows, dtype=start_ids.dtype, device=start_ids.device).reshape(len(rows), -1)
