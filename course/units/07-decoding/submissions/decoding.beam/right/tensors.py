import torch


def beam_search(step, start_id, end_id, beam_size, max_new_tokens, length_penalty=1.0):
    ids, sums = torch.tensor([[start_id]]), torch.zeros(1, dtype=torch.float64)
    results = []
    for length in range(1, max_new_tokens + 1):
        log_probs = torch.log_softmax(step(ids).double().cpu(), dim=-1)
        totals = (sums[:, None] + log_probs).flatten()
        sums, index = totals.topk(min(beam_size, totals.numel()))
        words = index % log_probs.size(1)
        ids = torch.cat([ids[index // log_probs.size(1)], words[:, None]], dim=1)
        over = words == end_id
        results += [(row.tolist(), total.item() / length**length_penalty) for row, total in zip(ids[over], sums[over])]
        ids, sums = ids[~over], sums[~over]
        if ids.size(0) == 0:
            break
    results += [
        (row.tolist(), total.item() / max(ids.size(1) - 1, 1) ** length_penalty) for row, total in zip(ids, sums)
    ]
    results.sort(key=lambda result: -result[1])
    return results[:beam_size]
