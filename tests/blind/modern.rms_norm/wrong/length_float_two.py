# divides by the vector's length (sum instead of mean of squares) + returns float32 instead of x's dtype
def rms_norm(x, weight, eps=1e-06):
    x = x.float()
    total = (x ** 2).sum(dim=-1, keepdim=True)
    return x / (total + eps) ** 0.5 * weight.float()
