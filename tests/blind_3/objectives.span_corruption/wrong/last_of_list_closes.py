# the closing sentinel is the last of the list instead of the next unused one
def span_corruption(tokens, spans, sentinels):
    inputs, targets = [], []
    i = 0
    for (start, end), sentinel in zip(spans, sentinels):
        while i < start:
            inputs.append(tokens[i])
            i += 1
        inputs.append(sentinel)
        targets.append(sentinel)
        while i < end:
            targets.append(tokens[i])
            i += 1
    inputs.extend(tokens[i:])
    targets.append(sentinels[-1])
    return inputs, targets
