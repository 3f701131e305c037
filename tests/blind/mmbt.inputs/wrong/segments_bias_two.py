# the segments are exchanged (text 0, image 1) + the bias b is forgotten
def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    B, N, _ = image_features.shape
    S, E = text_embeddings.shape[1:]
    out = text_embeddings.new_zeros(B, N + S, E)
    out[:, :N] = image_features @ w
    out[:, N:] = text_embeddings
    seg = torch.cat([segment[1].expand(N, E), segment[0].expand(S, E)])
    pos = torch.cat([position[:N], position[:S]])
    return out + seg + pos
