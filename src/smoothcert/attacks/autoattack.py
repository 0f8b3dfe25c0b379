"""AutoAttack (Croce and Hein 2020) on the smoothed classifier, by the attacks of the Adversarial Robustness Toolbox."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from smoothcert.attacks.attacked import attacked
from smoothcert.attacks.length import shortened
from smoothcert.attacks.smoothed_loss import noisy_logits
from smoothcert.errors import InvalidArgumentError

_RANDOM_STARTS = 1
_SQUARES = 10  # queries of the square attack per gradient step of the others


def autoattack(
    model: nn.Module,
    images: torch.Tensor,
    labels: torch.Tensor,
    offsets: torch.Tensor,
    *,
    eps: float,
    steps: int,
) -> torch.Tensor:
    """Return images within l2 distance `eps`, by two parameter-free gradient attacks and a random search.

    Not the leaderboard's setting: one random start, T steps and 10 T queries, against the mean softmax over m fixed
    noises. ART draws starting points from NumPy's global state, which is seeded from the offsets and put back.

    Args:
        model: batch -> logits.
        images: clean images in [0, 1], (rows, ...).
        labels: class indices, (rows,).
        offsets: noise of the m copies, (m, rows, ...).
        eps: radius of the l2 ball, in pixel units.
        steps: gradient steps T.
    """
    found = []
    with attacked(model), _quiet(int(offsets.abs().sum().double().item() * 1e6) % 2**32):
        for row in range(len(images)):  # ART hands rows over in batches of its own; each has its own noise
            alone = slice(row, row + 1)
            estimator = _estimator(_Smoothed(model, offsets[:, alone]), images[alone])
            found.append(_strongest(estimator, images[alone], labels[alone], eps=eps, steps=steps))
    moved = torch.cat(found) - images
    return (images + shortened(moved, eps)).clamp(0, 1)


class _Smoothed(nn.Module):
    """The smoothed classifier as a network: logarithm of the mean softmax over fixed noises."""

    def __init__(self, model: nn.Module, offsets: torch.Tensor) -> None:
        super().__init__()
        self.model, self.offsets = model, offsets
        self.training = False

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return logits, (rows, classes)."""
        logits = noisy_logits(self.model, batch, self.offsets.expand(-1, len(batch), *batch.shape[1:]))
        return logits.log_softmax(dim=-1).logsumexp(dim=0)


def _estimator(smoothed: _Smoothed, image: torch.Tensor) -> Any:
    try:
        from art.estimators.classification import PyTorchClassifier
    except ImportError as error:
        raise InvalidArgumentError(
            "method autoattack needs the Adversarial Robustness Toolbox; install it with: pip install "
            "'smoothcert[attack]', or attack with method pgd"
        ) from error
    with torch.no_grad():
        classes = smoothed(image).shape[1]
    return PyTorchClassifier(
        model=smoothed,
        loss=nn.CrossEntropyLoss(),
        input_shape=tuple(image.shape[1:]),
        nb_classes=classes,
        clip_values=(0.0, 1.0),
        device_type="cpu",
    )


def _strongest(
    estimator: Any, image: torch.Tensor, label: torch.Tensor, *, eps: float, steps: int
) -> torch.Tensor:
    """Run one attack after the other until the mean softmax is fooled; else return the last one's image.

    ART's own chain is not used: it needs a package for processes, and gives up images that are wrong already.
    """
    wanted = nn.functional.one_hot(label, estimator.nb_classes).numpy().astype(np.float32)
    answer = image.numpy()
    for attack in _attacks(estimator, eps=eps, steps=steps):
        answer = np.asarray(attack.generate(image.numpy(), wanted), dtype=np.float32)
        if int(estimator.predict(answer).argmax()) != int(label):
            break
    return torch.from_numpy(answer)


def _attacks(estimator: Any, *, eps: float, steps: int) -> list[Any]:
    from art.attacks.evasion import AutoProjectedGradientDescent, SquareAttack

    ball: dict[str, Any] = {"norm": 2, "eps": eps, "batch_size": 1}
    losses = ["cross_entropy"] + (["difference_logits_ratio"] if estimator.nb_classes > 2 else [])
    attacks: list[Any] = [
        AutoProjectedGradientDescent(
            estimator,
            eps_step=2 * eps / steps,
            max_iter=steps,
            nb_random_init=_RANDOM_STARTS,
            loss_type=loss,
            verbose=False,
            **ball,
        )
        for loss in losses
    ]
    attacks.append(SquareAttack(estimator, max_iter=_SQUARES * steps, nb_restarts=1, verbose=False, **ball))
    return attacks


@contextlib.contextmanager
def _quiet(seed: int) -> Iterator[None]:
    """Keep ART's chatter to itself, and give NumPy's global state back as it was."""
    state, level = np.random.get_state(), logging.getLogger("art").level
    np.random.seed(seed)
    logging.getLogger("art").setLevel(logging.ERROR)
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            np.random.set_state(state)
            logging.getLogger("art").setLevel(level)
