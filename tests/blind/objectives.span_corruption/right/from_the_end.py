# replaces the spans from the last to the first, so that earlier indices stay valid
def span_corruption(tokens, spans, sentinels):
    inputs, targets = list(tokens), []
    for n in reversed(range(len(spans))):
        start, end = spans[n]
        targets = [sentinels[n], *tokens[start:end], *targets]
        inputs[start:end] = [sentinels[n]]
    targets.append(sentinels[len(spans)])
    return inputs, targets
