# scores divided by sqrt(d_model) instead of the sqrt of one head's width
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.d_model = d_model
        self.h = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        B = query.shape[0]
        D = self.d_model // self.h
        q = self.q_proj(query).view(B, -1, self.h, D).transpose(1, 2)
        k = self.k_proj(key).view(B, -1, self.h, D).transpose(1, 2)
        v = self.v_proj(value).view(B, -1, self.h, D).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_model)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
        out = (weights @ v).transpose(1, 2).reshape(B, -1, self.d_model)
        return self.o_proj(out), weights
