"""Networks with several heads on one trunk: an ensemble at the price of one network and some (SOME, Fang et al.)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from smoothcert.arguments import check_kind, is_whole
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks.architecture import remembered_build
from smoothcert.networks.composite import Composite
from smoothcert.networks.head_splits import resolve_split
from smoothcert.networks.stages import Stages, network_stages, stages_of


class MultiHead(Composite):
    """One trunk, several heads, and the mean of the heads' logits as the prediction.

    Not a voting ensemble of whole networks: the trunk runs once for all heads. For other rules than the mean, and
    for consensus, see `ensembles`.

    Args:
        trunk: from a batch of images to features; its first layer normalises.
        heads: at least one, each from those features to logits.
    """

    def __init__(self, trunk: nn.Module, heads: list[nn.Module]) -> None:
        super().__init__()
        check_kind("trunk", trunk, nn.Module, "a torch module, from images to features")
        check_kind(
            "heads", heads, (list, tuple, nn.ModuleList), "a list of torch modules, from features to logits"
        )
        for head in heads:
            check_kind("each of heads", head, nn.Module, "a torch module, from features to logits")
        if not heads:
            raise InvalidArgumentError("heads must hold at least one head, got none")
        self.trunk = trunk
        self.heads = nn.ModuleList(heads)

    @property
    def evaluations_per_vote(self) -> int:
        """Number of head evaluations that one vote costs; the trunk, which runs once, is not counted."""
        return len(self.heads)

    def head_logits(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the logits of every head, (rows, heads, classes)."""
        features = self.trunk(batch)
        return torch.stack([head(features) for head in self.heads], dim=1)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the mean of the heads' logits, (rows, classes)."""
        return self.combine(self.head_logits(batch))

    def member_logits(self, batch: torch.Tensor) -> torch.Tensor:
        """Return what `head_logits` does, by the name that ensembles have for it."""
        return self.head_logits(batch)

    def combine(self, head_logits: torch.Tensor) -> torch.Tensor:
        """Return the prediction's logits, (rows, classes), from the heads', (rows, heads, classes)."""
        # Head by head in a fixed order, as the rules of ensembles do: a row must not depend on its neighbours.
        total = head_logits[:, 0]
        for head in range(1, len(self.heads)):
            total = total + head_logits[:, head]
        return total / len(self.heads)

    def head(self, number: int) -> nn.Module:
        """Return one head as a classifier of images: trunk and head, sharing their weights.

        Args:
            number: 0 .. heads - 1.
        """
        if not is_whole(number, 0, len(self.heads) - 1):
            raise InvalidArgumentError(
                f"head number must be an integer from 0 to {len(self.heads) - 1}, got {number!r}"
            )
        return one_headed(self.trunk, self.heads[number])

    def record(self, identity_of: Callable[[nn.Module], str]) -> dict[str, Any]:
        """Return the heads, named as they are where they are certified alone; they vote as rule "soft" does."""
        return {
            "kind": type(self).__name__,
            "rule": "soft",
            "members": [identity_of(one_headed(self.trunk, head)) for head in self.heads],
            "evaluations_per_vote": self.evaluations_per_vote,
        }


def multi_head_of(*models: nn.Module) -> MultiHead | None:
    """Return the multi-head network that some models are, if they are a single one; else None."""
    first = models[0] if len(models) == 1 else None
    return first if isinstance(first, MultiHead) else None


def one_headed(trunk: nn.Module, head: nn.Module) -> nn.Module:
    """Return a trunk and one of its heads as a classifier of images; both are shared, not copied."""
    alone = nn.Sequential(OrderedDict(trunk=trunk, head=head))
    # The flag of the new container only; its parts keep theirs.
    alone.training = trunk.training or head.training
    return alone


def multi_head(model: nn.Module, split: str | None, heads: int) -> MultiHead:
    """Return a network with several heads, made of a plain one; the first head and the trunk keep its weights.

    The other heads get fresh weights by building the architecture again, from torch's global random state.

    Args:
        model: what `create_model` returned; the new network shares its modules.
        split: where the heads begin, for `resolve_split`.
        heads: how many, at least 1.
    """
    if not is_whole(heads, 1):
        raise InvalidArgumentError(f"heads must be an integer of at least 1, got {heads!r}")
    (_, normalize), *stages = stages_of(model)
    build = remembered_build(model)
    if build is None:
        raise InvalidArgumentError(
            "model must come from create_model, which knows how to build the network again for further heads"
        )
    border = resolve_split(tuple(stages), split)
    before, first = _cut(tuple(stages), border)
    later = [_cut(network_stages(build()), border)[1] for _ in range(heads - 1)]
    trunk = nn.Sequential(OrderedDict([("normalize", normalize), *before]))
    return MultiHead(trunk, [nn.Sequential(OrderedDict(part)) for part in (first, *later)])


def _cut(stages: Stages, border: str) -> tuple[Stages, Stages]:
    """Return the stages before a border and those from it on; a border inside a stage cuts the stage in two."""
    stage, _, block = border.partition(".")
    place = [name for name, _ in stages].index(stage)
    if not block:
        return stages[:place], stages[place:]
    whole = stages[place][1]
    assert isinstance(whole, nn.Sequential)
    inside = [name for name, _ in whole.named_children()].index(block)
    return (
        (*stages[:place], (stage, whole[:inside])),
        ((stage, whole[inside:]), *stages[place + 1 :]),
    )
