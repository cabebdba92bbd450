import torch


def softmax(x):
    return x
