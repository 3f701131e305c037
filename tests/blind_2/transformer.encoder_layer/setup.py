import math

import torch
import torch.nn.functional as F
from torch import nn

from tfkit.nn import MultiHeadAttention, causal_mask, decoder_mask, padding_mask, sinusoidal_positions
