# explicit loop over rows, filled with slices
def causal_mask(length):
    may_look = torch.zeros(length, length, dtype=torch.bool)
    for query in range(length):
        # the query sees everything up to and including itself
        may_look[query, : query + 1] = True
    return may_look
