"""What follows the last span is missing from your inputs."""


def span_corruption(tokens, spans, sentinels):
    inputs, targets, past = [], [], 0
    for (start, end), sentinel in zip(spans, sentinels):
        inputs += [*tokens[past:start], sentinel]
        targets += [sentinel, *tokens[start:end]]
        past = end
    return inputs, [*targets, sentinels[len(spans)]]
