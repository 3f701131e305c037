# takes ids > pad_id for "is a real token", which is right only if pad_id is the smallest id
def padding_mask(ids, pad_id):
    return ids.gt(pad_id).unsqueeze(1).unsqueeze(2)
