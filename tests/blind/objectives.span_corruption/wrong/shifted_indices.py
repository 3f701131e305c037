# replaces from left to right in the shortened list, so later spans hit the wrong place
def span_corruption(tokens, spans, sentinels):
    inputs = list(tokens)
    targets = []
    for (start, end), s in zip(spans, sentinels):
        targets.append(s)
        targets.extend(tokens[start:end])
        inputs[start:end] = [s]
    targets.append(sentinels[len(spans)])
    return inputs, targets
