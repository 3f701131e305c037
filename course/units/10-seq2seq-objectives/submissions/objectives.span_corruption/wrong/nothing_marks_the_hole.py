"""Your inputs do not show where something is missing.

The sentinel must stand in the input too, in place of its span."""


def span_corruption(tokens, spans, sentinels):
    inputs, targets, past = [], [], 0
    for (start, end), sentinel in zip(spans, sentinels):
        inputs += tokens[past:start]
        targets += [sentinel, *tokens[start:end]]
        past = end
    return [*inputs, *tokens[past:]], [*targets, sentinels[len(spans)]]
