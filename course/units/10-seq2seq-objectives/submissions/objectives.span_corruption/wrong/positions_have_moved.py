"""Your second span is cut at the wrong place: replacing the first one has moved everything behind it.

The spans count positions of the text as it was."""


def span_corruption(tokens, spans, sentinels):
    inputs, targets = list(tokens), []
    for (start, end), sentinel in zip(spans, sentinels):
        targets += [sentinel, *inputs[start:end]]
        inputs[start:end] = [sentinel]
    return inputs, [*targets, sentinels[len(spans)]]
