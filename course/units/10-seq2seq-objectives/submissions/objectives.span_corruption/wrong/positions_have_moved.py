"""You cut the second span at the wrong place, because replacing the first one has moved everything after it.

The spans refer to positions in the original text.
"""


def span_corruption(tokens, spans, sentinels):
    inputs, targets = list(tokens), []
    for (start, end), sentinel in zip(spans, sentinels):
        targets += [sentinel, *inputs[start:end]]
        inputs[start:end] = [sentinel]
    return inputs, [*targets, sentinels[len(spans)]]
