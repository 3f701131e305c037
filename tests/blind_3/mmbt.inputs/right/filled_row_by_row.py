# style: an empty tensor that is filled token by token in two loops
def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    B, N, _ = image_features.shape
    S, E = text_embeddings.shape[1:]
    seq = text_embeddings.new_zeros(B, N + S, E)
    for i in range(N):
        seq[:, i] = torch.einsum("bf,fe->be", image_features[:, i], w) + (b + segment[0] + position[i])
    for j in range(S):
        seq[:, N + j] = text_embeddings[:, j] + (segment[1] + position[j])
    return seq
