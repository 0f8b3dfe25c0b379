"""Modules made at random from what users put into modules: hooks, overridden calls, buffers, branches, wrappers."""

import torch
from torch import nn
from torch.nn.utils import parametrize

CLASSES = 3
SHAPE = (1, 4, 4)


def is_bright(batch):
    """Rows whose mean exceeds that of the image: about half of them under noise."""
    return batch.flatten(1).mean(dim=1) > 0.5


def flipped_where_bright(batch, logits):
    return torch.where(is_bright(batch).unsqueeze(1), logits.flip(1), logits)


class Plain(nn.Module):
    """A convolution, batch norm and linear layer, with a buffer that is no weight."""

    def __init__(self, rng):
        super().__init__()
        width = rng.choice([2, 3, 4])
        self.features = nn.Sequential(
            nn.Conv2d(1, width, rng.choice([1, 3]), padding="same"),
            nn.BatchNorm2d(width),
            rng.choice([nn.ReLU(), nn.Tanh(), nn.GELU()]),
        )
        self.classifier = nn.Linear(16 * width, CLASSES)
        self.register_buffer("shift", torch.randn(CLASSES) * 0.1, persistent=rng.random() < 0.5)
        norm = self.features[1]
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2.0)

    def forward(self, batch):
        return self.classifier(self.features(batch).flatten(1)) + self.shift


class RowBranch(Plain):
    """A branch per row, written in torch."""

    def forward(self, batch):
        return flipped_where_bright(batch, super().forward(batch))


class PythonBranch(Plain):
    """A branch per row, written in Python."""

    def forward(self, batch):
        rows = [-row if row_is_bright else row for row, row_is_bright in zip(*self.both(batch), strict=True)]
        return torch.stack(rows)

    def both(self, batch):
        return super().forward(batch), is_bright(batch).tolist()


class Catching(Plain):
    def forward(self, batch):
        logits = super().forward(batch)
        try:
            return flipped_where_bright(batch, logits) if batch.numpy().size else logits
        except Exception:
            return logits


class Asking(Plain):
    def forward(self, batch):
        logits = super().forward(batch)
        return flipped_where_bright(batch, logits) if type(batch) is torch.Tensor else logits


class Calling(Plain):
    def __call__(self, batch):
        return flipped_where_bright(batch, super().__call__(batch))


class Wrapped(nn.Module):
    """Behind a module that knows nothing of it."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, batch):
        return 0.5 * self.inner(batch)


class Doubled(nn.Module):
    def forward(self, weight):
        return 2 * weight


def _hook(model, rng):
    model.register_forward_hook(lambda module, args, output: flipped_where_bright(args[0], output))


def _pre_hook(model, rng):
    model.register_forward_pre_hook(lambda module, args: (args[0].flip(-1) * 2,))


def _inner_hook(model, rng):
    layer = rng.choice(list(model.features))
    layer.register_forward_hook(lambda module, args, output: -output)


def _inner_pre_hook(model, rng):
    rng.choice(list(model.features)).register_forward_pre_hook(lambda module, args: (args[0] + 1.0,))


def _own_forward(model, rng):
    inner = type(model).forward
    model.forward = lambda batch: flipped_where_bright(batch, inner(model, batch))


def _layer_forward(model, rng):
    layer = model.features[1]
    inner = type(layer).forward
    layer.forward = lambda features: -inner(layer, features)


def _parametrised(model, rng):
    parametrize.register_parametrization(model.features[0], "weight", Doubled())


def _subclassed_weights(model, rng):
    class Weight(nn.Parameter):
        pass

    model.classifier.weight = Weight(model.classifier.weight.detach() * 2)


KINDS = (Plain, Plain, RowBranch, PythonBranch, Catching, Asking, Calling)
CHANGES = (
    _hook,
    _pre_hook,
    _inner_hook,
    _inner_pre_hook,
    _own_forward,
    _layer_forward,
    _parametrised,
    _subclassed_weights,
)


def of_torch_alone(rng):
    """A network without a line of the user's own code, which engines fold and export."""
    inner = Plain(rng)
    return nn.Sequential(inner.features, nn.Flatten(), inner.classifier)


def random_model(rng, *, plain):
    """Return a module; a plain one is made of torch's own modules alone."""
    if plain:
        return of_torch_alone(rng).eval()
    model = rng.choice(KINDS)(rng)
    few = [1, 2] if type(model) in KINDS[:3] else [0, 1, 1, 2]
    for change in rng.sample(CHANGES, rng.choice(few)):
        change(model, rng)
    if rng.random() < 0.3:
        model = Wrapped(model)
        if rng.random() < 0.5:
            _hook(model, rng)
    return model.eval()
