# a running sum down the columns of the identity matrix, no tril
def causal_mask(length):
    diagonal = torch.eye(length, dtype=torch.int64)
    reached = diagonal.cumsum(dim=0)      # column j turns to 1 in row j and stays there
    return reached == 1
