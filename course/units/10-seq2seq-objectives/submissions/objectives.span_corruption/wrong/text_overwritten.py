"""You cut the spans out of the list that you were given.

The same text is corrupted anew in each epoch; work on a copy."""


def span_corruption(tokens, spans, sentinels):
    targets = [sentinels[len(spans)]]
    for n in reversed(range(len(spans))):
        start, end = spans[n]
        targets = [sentinels[n]] + tokens[start:end] + targets
        tokens[start:end] = [sentinels[n]]
    return tokens, targets
