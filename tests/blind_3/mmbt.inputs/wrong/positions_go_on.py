# the positions go on behind the image instead of starting again at 0 for the text
def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    img = image_features @ w + b
    N, S = img.shape[1], text_embeddings.shape[1]
    seg = torch.cat([segment[0].expand(N, -1), segment[1].expand(S, -1)])
    x = torch.cat([img, text_embeddings], dim=1)
    return x + seg + position[:N + S]
