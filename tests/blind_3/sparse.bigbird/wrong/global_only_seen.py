# the global blocks are seen by all but do not see all themselves
def bigbird_mask(length, block, window_blocks, global_blocks, random_blocks):
    nb = length // block
    rows = []
    for a in range(nb):
        row = torch.zeros(nb, dtype=torch.bool)
        for b in range(nb):
            if abs(a - b) <= window_blocks // 2:
                row[b] = True
            if b < global_blocks:
                row[b] = True
        row[random_blocks[a].cpu()] = True
        rows.append(row)
    table = torch.stack(rows)
    big = torch.kron(table.int(), torch.ones(block, block, dtype=torch.int)).bool()
    return big.to(random_blocks.device)
