# the end_id after the assistant's turn has no label
def chat_labels(turns, end_id):
    ids, labels = [], []
    for role, tokens in turns:
        ids.extend(tokens)
        if role == "assistant":
            labels.extend(tokens)
        else:
            labels.extend([-100] * len(tokens))
        ids.append(end_id)
        labels.append(-100)
    return ids, labels
