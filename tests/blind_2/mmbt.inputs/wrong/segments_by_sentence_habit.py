# the segments are exchanged: text is 0, image is 1
def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    N = image_features.shape[1]
    S = text_embeddings.shape[1]
    img = F.linear(image_features, w.T, b)
    img = img + segment[1] + position[:N].unsqueeze(0)
    txt = text_embeddings + segment[0] + position[:S].unsqueeze(0)
    return torch.cat((img, txt), dim=1)
