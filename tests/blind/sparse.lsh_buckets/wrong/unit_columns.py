# normalises the columns of the rotations first, which is not in the formula
def lsh_buckets(vectors, rotations):
    directions = F.normalize(rotations, dim=0)
    directions = torch.cat((directions, -directions), dim=1)
    cosine = F.normalize(vectors, dim=-1) @ directions
    return torch.max(cosine, dim=-1)[1]
