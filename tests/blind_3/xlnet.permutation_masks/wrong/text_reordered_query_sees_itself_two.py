# plain left-to-right triangles, order not used at all (as if the text were reordered) + query also sees its own word
def permutation_masks(order):
    L = order.size(0)
    content = causal_mask(L)
    query = content.clone()
    return content, query
