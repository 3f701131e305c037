# the tokens after the last span are repeated in the targets (the copied mistake with the full stop)
def span_corruption(tokens, spans, sentinels):
    inputs = list(tokens)
    targets = []
    for k in range(len(spans) - 1, -1, -1):
        s, e = spans[k]
        inputs[s:e] = [sentinels[k]]
        targets = [sentinels[k]] + list(tokens[s:e]) + targets
    if spans:
        targets.extend(tokens[spans[-1][1]:])
    targets.append(sentinels[len(spans)])
    return inputs, targets
