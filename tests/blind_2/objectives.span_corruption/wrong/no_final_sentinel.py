# the targets do not end with the next sentinel
def span_corruption(tokens, spans, sentinels):
    inputs, targets = [], []
    prev = 0
    for (start, end), sent in zip(spans, sentinels):
        inputs.extend(tokens[prev:start])
        inputs.append(sent)
        targets.append(sent)
        targets.extend(tokens[start:end])
        prev = end
    inputs.extend(tokens[prev:])
    return inputs, targets
