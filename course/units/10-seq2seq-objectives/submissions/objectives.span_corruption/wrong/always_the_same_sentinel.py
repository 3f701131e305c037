"""All your spans leave the same sentinel behind.

Then nothing says which span a part of the target belongs to."""


def span_corruption(tokens, spans, sentinels):
    inputs, targets, past = [], [], 0
    for (start, end), sentinel in zip(spans, sentinels[:1] * len(spans)):
        inputs += [*tokens[past:start], sentinel]
        targets += [sentinel, *tokens[start:end]]
        past = end
    return [*inputs, *tokens[past:]], [*targets, sentinels[len(spans)]]
