import torch


def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    buffer = start_ids.new_full((start_ids.size(0), 1 + max_new_tokens), pad_id)
    buffer[:, 0] = start_ids
    finished = torch.zeros(start_ids.size(0), dtype=torch.bool, device=start_ids.device)
    length = 1
    while length <= max_new_tokens and not bool(finished.all()):
        choice = step(buffer[:, :length]).argmax(dim=-1).to(start_ids.device)
        buffer[:, length] = torch.where(finished, torch.full_like(choice, pad_id), choice)
        finished = finished | (choice == end_id)
        length += 1
    return buffer[:, :length]
