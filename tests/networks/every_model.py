"""Every registered network at a size that tests can afford, as after a little training."""

import torch

from smoothcert.networks import MODELS, create_model

NAMES = list(MODELS)
MEAN, STD = (0.4,), (0.3,)


def small_shape(name):
    """The network's own number of channels, and sides of about 16 where its layers allow it."""
    channels, *sides = MODELS[name].input_shape
    return (channels, *(min(side, max(16, MODELS[name].least_side)) for side in sides))


def settled(name, num_classes=10, shape=None, rows=8):
    """A network in eval mode whose batch norms hold the statistics of one batch, so that they matter."""
    shape = shape or small_shape(name)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(len(name))
        model = create_model(name, num_classes=num_classes, input_shape=shape, mean=MEAN, std=STD)
    for layer in model.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.momentum = None  # the plain mean over batches: one is enough
    with torch.no_grad():
        model.train()(images(shape, rows))
    return model.eval()


def images(shape, rows, seed=0):
    return torch.rand(rows, *shape, generator=torch.Generator().manual_seed(seed))


def parameters_of(name):
    """The number of parameters with the published number of classes; nothing is drawn."""
    with torch.device("meta"):
        network = MODELS[name].build(MODELS[name].num_classes, MODELS[name].input_shape)
    return sum(weights.numel() for weights in network.parameters() if weights.requires_grad)
