"""Your targets end with the last sentinel of the list, not with the next one after those that were used.

More sentinels may be given than there are spans."""


def span_corruption(tokens, spans, sentinels):
    inputs, targets, past = [], [], 0
    for (start, end), sentinel in zip(spans, sentinels):
        inputs += [*tokens[past:start], sentinel]
        targets += [sentinel, *tokens[start:end]]
        past = end
    return [*inputs, *tokens[past:]], [*targets, sentinels[-1]]
