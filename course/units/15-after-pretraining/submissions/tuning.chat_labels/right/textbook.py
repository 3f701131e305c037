def chat_labels(turns, end_id):
    ids = []
    labels = []
    for role, words in turns:
        turn = list(words) + [end_id]
        ids.extend(turn)
        if role == "assistant":
            labels.extend(turn)
        else:
            labels.extend([-100] * len(turn))
    return ids, labels
