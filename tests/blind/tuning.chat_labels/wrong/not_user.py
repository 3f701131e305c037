# labels every turn that is not the user's, the system's as well
def chat_labels(turns, end_id):
    ids = []
    labels = []
    for role, text in turns:
        segment = list(text) + [end_id]
        ids += segment
        labels += [-100] * len(segment) if role == "user" else segment
    return ids, labels
