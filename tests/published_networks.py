"""Plain torch networks with the structure and the names of weights that papers' code published.

Written from those facts. Not the package's networks: a second way to the same function, to compare imports with.
"""

import torch
from torch import nn
from torch.nn import functional as F

CIFAR_MEAN, CIFAR_STD = (0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)


class Normalise(nn.Module):
    """Numbers as plain attributes, so that no weights file has them; a std of None only centres."""

    def __init__(self, mean=CIFAR_MEAN, std=CIFAR_STD):
        super().__init__()
        self.means = torch.tensor(mean)
        self.sds = None if std is None else torch.tensor(std)

    def forward(self, x):
        x = x - self.means[:, None, None]
        return x if self.sds is None else x / self.sds[:, None, None]


class BufferedNormalise(Normalise):
    """The same with buffers, which a weights file has."""

    def __init__(self, mean=CIFAR_MEAN, std=CIFAR_STD):
        nn.Module.__init__(self)
        self.register_buffer("means", torch.tensor(mean))
        self.sds = None
        if std is not None:
            del self.sds
            self.register_buffer("sds", torch.tensor(std))


class Block(nn.Module):
    """A residual block; `deep` ones have three convolutions and give four times the channels."""

    def __init__(self, channels, width, stride, deep):
        super().__init__()
        out = width * 4 if deep else width
        kernels = ((1, 0, 1), (3, 1, stride), (1, 0, 1)) if deep else ((3, 1, stride), (3, 1, 1))
        inner = channels
        for number, (kernel, padding, step) in enumerate(kernels, start=1):
            to = out if number == len(kernels) else width
            self.add_module(f"conv{number}", nn.Conv2d(inner, to, kernel, step, padding, bias=False))
            self.add_module(f"bn{number}", nn.BatchNorm2d(to))
            inner = to
        self.count = len(kernels)
        self.downsample = None
        if stride != 1 or channels != out:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out)
            )

    def forward(self, x):
        y = x
        for number in range(1, self.count + 1):
            y = getattr(self, f"bn{number}")(getattr(self, f"conv{number}")(y))
            if number < self.count:
                y = F.relu(y)
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """conv1, bn1, layer1, .. fc; with heads the last stage and a linear layer are repeated, heads.N.0 and heads.N.1."""

    def __init__(self, blocks, *, large=False, deep=False, classes=10, heads=None):
        super().__init__()
        widths = (64, 128, 256, 512) if large else (16, 32, 64)
        self.large, self.stages = large, len(widths)
        stem = (7, 2, 3) if large else (3, 1, 1)
        self.conv1 = nn.Conv2d(3, widths[0], *stem, bias=False)
        self.bn1 = nn.BatchNorm2d(widths[0])
        channels = widths[0]
        for number, (width, count) in enumerate(zip(widths, blocks, strict=True), start=1):
            stride, into = (1 if number == 1 else 2), channels
            channels = width * 4 if deep else width

            def stage(into=into, out=channels, width=width, stride=stride, count=count):
                first = Block(into, width, stride, deep)
                return nn.Sequential(first, *(Block(out, width, 1, deep) for _ in range(count - 1)))

            if heads and number == self.stages:
                parts = [nn.Sequential(stage(), nn.Linear(channels, classes)) for _ in range(heads)]
                self.heads = nn.Sequential(*parts)
            else:
                self.add_module(f"layer{number}", stage())
        if not heads:
            self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.max_pool2d(x, 3, 2, 1) if self.large else x
        several = hasattr(self, "heads")
        for number in range(1, self.stages + (0 if several else 1)):
            x = getattr(self, f"layer{number}")(x)
        if not several:
            return self.fc(x.mean((2, 3)))
        return sum(last(stage(x).mean((2, 3))) for stage, last in self.heads)


def cifar_resnet(depth, **more):
    return ResNet([(depth - 2) // 6] * 3, **more)


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 20, 5), nn.Conv2d(20, 50, 5)
        self.fc1, self.fc2 = nn.Linear(800, 500), nn.Linear(500, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


class SmallLeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv_1, self.conv_2 = nn.Conv2d(3, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc_1, self.fc_2, self.fc_3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv_1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv_2(x)), 2)
        return self.fc_3(F.relu(self.fc_2(F.relu(self.fc_1(x.flatten(1))))))


class AlexNet(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 64, 11, 4, 5), nn.ReLU(), nn.MaxPool2d(2)]
        layers += [nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)]
        for into, out in ((192, 384), (384, 256), (256, 256)):
            layers += [nn.Conv2d(into, out, 3, padding=1), nn.ReLU()]
        self.features = nn.Sequential(*layers, nn.MaxPool2d(2))
        self.fc = nn.Linear(256, 10)

    def forward(self, x):
        return self.fc(self.features(x).flatten(1))


class VGG(nn.Module):
    def __init__(self, numbers):
        super().__init__()
        layers, channels = [], 3
        for width, number in zip((64, 128, 256, 512, 512), numbers, strict=True):
            for _ in range(number):
                layers += [nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
                channels = width
            layers.append(nn.MaxPool2d(2))
        self.features, self.classifier = nn.Sequential(*layers), nn.Linear(512, 10)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


class Dense(nn.Module):
    """DenseNet-BC; `spelling` names its parts, and transitions without compression have no weights."""

    def __init__(self, layers, spelling):
        super().__init__()
        self.spelling, channels = spelling, 24
        parts = {"conv0": nn.Conv2d(3, 24, 3, padding=1, bias=False)}
        long = spelling == "long"
        for block in (1, 2, 3):
            made = {}
            for layer in range(1, layers + 1):
                made[f"{'dense' if long else ''}layer{layer}"] = self._layer(channels, long)
                channels += 12
            parts[f"{'dense' if long else ''}block{block}"] = nn.ModuleDict(made)
            if long and block < 3:
                parts[f"transition{block}"] = nn.ModuleDict(
                    {
                        "norm": nn.BatchNorm2d(channels),
                        "conv": nn.Conv2d(channels, channels // 2, 1, bias=False),
                    }
                )
                channels //= 2
        parts["norm5" if long else "norm_last"] = nn.BatchNorm2d(channels)
        self.features, self.classifier = nn.ModuleDict(parts), nn.Linear(channels, 10)

    @staticmethod
    def _layer(channels, long):
        norms = [nn.BatchNorm2d(channels), nn.BatchNorm2d(48)]
        convolutions = [nn.Conv2d(channels, 48, 1, bias=False), nn.Conv2d(48, 12, 3, padding=1, bias=False)]
        if long:
            names = ("norm1", "conv1", "norm2", "conv2")
            return nn.ModuleDict(
                dict(zip(names, (norms[0], convolutions[0], norms[1], convolutions[1]), strict=True))
            )
        pairs = zip(norms, convolutions, strict=True)
        return nn.ModuleDict(
            {
                f"brc_{n}": nn.ModuleDict({"norm": norm, "conv": conv})
                for n, (norm, conv) in enumerate(pairs, 1)
            }
        )

    def forward(self, x):
        parts = dict(self.features.items())
        x = parts["conv0"](x)
        for name, part in parts.items():
            if "block" in name:
                for layer in part.values():
                    steps = list(layer.values())
                    steps = (
                        [step for pair in steps for step in pair.values()]
                        if self.spelling == "short"
                        else steps
                    )
                    y = steps[1](F.relu(steps[0](x)))
                    x = torch.cat([x, steps[3](F.relu(steps[2](y)))], 1)
                if name[-1] != "3" and self.spelling == "short":
                    x = F.avg_pool2d(x, 2)
            elif "transition" in name:
                x = F.avg_pool2d(part["conv"](F.relu(part["norm"](x))), 2)
        last = parts["norm5" if self.spelling == "long" else "norm_last"]
        return self.classifier(F.relu(last(x)).mean((2, 3)))


class Denoiser(nn.Module):
    """dncnn.0, dncnn.2, ..; its batch norms have a larger epsilon than torch's own."""

    def __init__(self, depth=17, width=64, channels=3):
        super().__init__()
        layers = [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU()]
        for _ in range(depth - 2):
            layers += [
                nn.Conv2d(width, width, 3, padding=1, bias=False),
                nn.BatchNorm2d(width, eps=1e-4),
                nn.ReLU(),
            ]
        self.dncnn = nn.Sequential(*layers, nn.Conv2d(width, channels, 3, padding=1, bias=False))

    def forward(self, x):
        return x - self.dncnn(x)


def drawn(network, seed=0):
    """Fill a network with random weights and statistics that keep signals alive, and put it into eval mode."""
    generator = torch.Generator().manual_seed(seed)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            for tensor, low, high in (
                (module.weight, 0.5, 1.5),
                (module.bias, -0.5, 0.5),
                (module.running_mean, -0.5, 0.5),
                (module.running_var, 0.5, 1.5),
            ):
                tensor.data.uniform_(low, high, generator=generator)
            module.num_batches_tracked.fill_(7)
        elif isinstance(module, nn.Conv2d | nn.Linear):
            scale = (2 / module.weight[0].numel()) ** 0.5
            module.weight.data.normal_(0, scale, generator=generator)
            if module.bias is not None:
                module.bias.data.uniform_(-0.1, 0.1, generator=generator)
    return network.eval()


def parallel(network):
    """Return a network inside a module of one part called `module`, as DataParallel names it."""

    class Parallel(nn.Module):
        def __init__(self):
            super().__init__()
            self.module = network

        def forward(self, x):
            return self.module(x)

    return Parallel().eval()


def balanced(network, last, shape, rows=16):
    """Move the bias of the last layer so that the classes win alike under noise: votes for one class prove little."""
    noise = torch.randn(rows, *shape, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        last.bias -= network(0.5 + 0.5 * noise).mean(0)
    return network
