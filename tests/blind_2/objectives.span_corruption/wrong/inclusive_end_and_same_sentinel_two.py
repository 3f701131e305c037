# the end of a span is taken as inclusive + every span gets the first sentinel
def span_corruption(tokens, spans, sentinels):
    s = sentinels[0]
    inputs = []
    targets = []
    at = 0
    for a, b in spans:
        inputs += tokens[at:a] + [s]
        targets += [s] + tokens[a:b + 1]
        at = b + 1
    inputs += tokens[at:]
    targets.append(sentinels[len(spans)])
    return inputs, targets
