import copy

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

import tfkit
from tfkit_lab import show
