# labels for every role except "user", so a system turn is learned too
IGNORE = -100


def chat_labels(turns, end_id):
    ids = sum([list(t) + [end_id] for _, t in turns], [])
    labels = []
    for who, t in turns:
        if who == "user":
            labels = labels + [IGNORE] * (len(t) + 1)
        else:
            labels = labels + list(t) + [end_id]
    return ids, labels
