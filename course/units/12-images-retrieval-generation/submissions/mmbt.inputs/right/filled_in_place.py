def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    batch, n = image_features.shape[:2]
    out = text_embeddings.new_zeros(batch, n + text_embeddings.shape[1], text_embeddings.shape[2])
    out[:, :n] = image_features.matmul(w)
    out[:, :n] += b
    out[:, n:] = text_embeddings
    out[:, :n] += segment[0]
    out[:, n:] += segment[1]
    out[:, :n] += position[:n]
    out[:, n:] += position[: out.shape[1] - n]
    return out
