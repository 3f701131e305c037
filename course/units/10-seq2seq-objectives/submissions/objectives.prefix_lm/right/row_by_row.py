import torch


def prefix_lm_mask(prefix_lengths, length):
    masks = []
    for prefix in prefix_lengths.tolist():
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        mask[:prefix, :prefix] = True
        masks.append(mask)
    return torch.stack(masks).unsqueeze(1).to(prefix_lengths.device)
