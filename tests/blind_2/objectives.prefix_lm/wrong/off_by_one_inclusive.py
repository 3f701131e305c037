# the prefix includes position n: <= instead of <
def prefix_lm_mask(prefix_lengths, length):
    masks = []
    for n in prefix_lengths.tolist():
        m = torch.ones(length, length).tril().bool()
        for i in range(length):
            for j in range(length):
                if i <= n and j <= n:
                    m[i, j] = True
        masks.append(m)
    return torch.stack(masks)[:, None]
