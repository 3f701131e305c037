# end_id only once, at the end of the conversation + 0 instead of -100 where there is no label
def chat_labels(turns, end_id):
    ids, labels = [], []
    for role, tokens in turns:
        for tok in tokens:
            ids.append(tok)
            labels.append(tok if role == "assistant" else 0)
    ids.append(end_id)
    labels.append(end_id if turns and turns[-1][0] == "assistant" else 0)
    return ids, labels
