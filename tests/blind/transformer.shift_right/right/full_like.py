# fills a table with the start symbol and copies the ids into the places from 1 on
def shift_right(ids, start_id):
    shifted = torch.full_like(ids, start_id)
    shifted[:, 1:] = ids[:, :-1]
    return shifted
