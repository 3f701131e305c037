def span_corruption(tokens, spans, sentinels):
    inputs = list(tokens)
    targets = [sentinels[len(spans)]]
    for n in reversed(range(len(spans))):
        start, end = spans[n]
        targets = [sentinels[n]] + inputs[start:end] + targets
        inputs[start:end] = [sentinels[n]]
    return inputs, targets
