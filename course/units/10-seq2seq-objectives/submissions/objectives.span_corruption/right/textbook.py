def span_corruption(tokens, spans, sentinels):
    inputs, targets, position = [], [], 0
    for (start, end), sentinel in zip(spans, sentinels):
        inputs.extend(tokens[position:start])
        inputs.append(sentinel)
        targets.append(sentinel)
        targets.extend(tokens[start:end])
        position = end
    inputs.extend(tokens[position:])
    targets.append(sentinels[len(spans)])
    return inputs, targets
