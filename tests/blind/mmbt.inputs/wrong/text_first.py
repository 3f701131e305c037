# puts the text in front of the image
def multimodal_inputs(image_features, text_embeddings, w, b, segment, position):
    def dress(content, seg):
        length = content.size(1)
        return content + segment[seg].view(1, 1, -1) + position[:length].unsqueeze(0)

    projected = torch.matmul(image_features, w) + b
    return torch.cat([dress(text_embeddings, 1), dress(projected, 0)], dim=1)
