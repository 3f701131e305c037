import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F

import tfkit
from tfkit_lab import show
