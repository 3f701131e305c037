# the end_id has a label after the user's turns too
def chat_labels(turns, end_id):
    ids, labels = [], []
    for role, tokens in turns:
        ids.extend(tokens)
        if role == "assistant":
            labels.extend(tokens)
        else:
            labels.extend([-100] * len(tokens))
        ids.append(end_id)
        labels.append(end_id)
    return ids, labels
