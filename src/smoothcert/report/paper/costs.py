"""What models cost: size and work of a forward pass, training, and how fast their runs drew votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from smoothcert.errors import SmoothcertError
from smoothcert.report.members import run_setting
from smoothcert.report.paper.model_folders import ModelFolder, find_folders, folder_of
from smoothcert.report.summary import Summary


@dataclass(frozen=True)
class ModelCost:
    """Cost of one model. Not measured here: size is counted, time is what cards and runs have recorded.

    Args:
        folder: of the model.
        parameters: numbers in its weights; None where they cannot be counted.
        multiply_adds: of one image's pass through all its members, matrix work only, which papers call FLOPs.
        weight_bytes: of its parameters and of the statistics of its batch norms, in memory.
        runs: of the model, under the settings that most of the models share.
        others: further runs of it, which are not counted.
        fault: why size or work could not be counted; empty otherwise.
    """

    folder: ModelFolder
    parameters: int | None
    multiply_adds: int | None
    weight_bytes: int | None
    runs: tuple[Summary, ...]
    others: tuple[Summary, ...] = ()
    fault: str = ""

    @property
    def name(self) -> str:
        """What tables call it: its runs, as the table of runs does; its folder without one."""
        return ", ".join(run.name for run in self.runs) if self.runs else str(self.folder.path)

    @property
    def is_single(self) -> bool:
        """Whether it is one network with one head."""
        return len(self.folder.networks) == 1 and self.folder.heads == 1

    @property
    def acr(self) -> float | None:
        """Average certified radius, mean over its runs."""
        return float(np.mean([run.acr for run in self.runs])) if self.runs else None

    @property
    def passes(self) -> float | None:
        """Mean evaluations per vote that its runs counted, of networks or heads; None without a run."""
        known = [run for run in self.runs if run.samples is not None and run.evaluations is not None]
        votes = sum(int(run.samples.sum()) for run in known if run.samples is not None)
        asked = sum(int(run.evaluations.sum()) for run in known if run.evaluations is not None)
        return asked / votes if votes else None

    @property
    def exits_early(self) -> bool:
        """Whether it stops asking members where the first ones decide, so that a vote may cost less than a pass."""
        return getattr(self.folder.card, "early_exit", None) is not None

    @property
    def votes_per_second(self) -> float | None:
        """Votes of its runs per second of one worker; None without a run, or without its time."""
        votes = sum(int(run.samples.sum()) for run in self.runs if run.samples is not None)
        seconds = sum(run.seconds for run in self.runs)
        return votes / seconds if votes and seconds else None

    @property
    def seconds_per_image(self) -> float | None:
        """Worker seconds per certified image; None without a run, or without its time."""
        images = sum(run.images - len(run.failures) for run in self.runs)
        seconds = sum(run.seconds for run in self.runs)
        return seconds / images if images and seconds else None


def model_costs(paths: Sequence[str | Path], summaries: Sequence[Summary] = ()) -> list[ModelCost]:
    """Return the costs of models; weights are read, and nothing is run.

    Args:
        paths: folders of models or ensembles; those where runs say that their models were come after them.
        summaries: runs, which are tied to folders by the digest of the weights.
    """
    folders, costs = find_folders(paths, summaries), []
    shared = _shared_setting([one for one in summaries if folder_of(one, folders) is not None])
    for folder in folders.values():
        own = [one for one in summaries if folder_of(one, folders) is folder]
        runs = tuple(one for one in own if repr(run_setting(one)) == shared)
        others = tuple(one for one in own if repr(run_setting(one)) != shared)
        try:
            costs.append(ModelCost(folder, *_counted(folder.path), runs, others))
        except SmoothcertError as error:  # code of the user's own, say, which is not run here
            costs.append(ModelCost(folder, None, None, None, runs, others, str(error)))
    return costs


def _shared_setting(runs: Sequence[Summary]) -> str | None:
    """Return the settings under which most different models were certified; the first of several."""
    models: dict[str, set[str]] = {}
    for one in runs:
        models.setdefault(repr(run_setting(one)), set()).add(str(one.manifest["model"]))
    return max(models, key=lambda setting: len(models[setting]), default=None)


def drawn_together(summaries: Sequence[Summary]) -> list[Summary]:
    """Return the runs whose votes came from the same forward passes as those of another: each has the time of all.

    Two runs never take exactly as long for one image, to the last digit, unless the same clock was read for both.
    """
    clocks: dict[tuple[int, float], set[str]] = {}
    for one in summaries:
        if one.run is not None:
            for index, seconds in zip(one.run.columns["idx"], one.run.columns["seconds"], strict=True):
                if seconds:
                    clocks.setdefault((index, seconds), set()).add(str(one.manifest["model"]))
    shared = {model for models in clocks.values() if len(models) > 1 for model in models}
    return [one for one in summaries if one.manifest.get("model") in shared]


def _counted(path: Path) -> tuple[int, int | None, int | None]:
    """Return parameters, multiply-adds and bytes of weights; work is counted where nothing is computed."""
    import torch

    from smoothcert.folders import load_model
    from smoothcert.networks import multiply_adds_of, parameters_of

    model, card = load_model(path)
    parameters = parameters_of(model)
    stored = sum(tensor.numel() * tensor.element_size() for tensor in model.state_dict().values())
    work = multiply_adds_of(model.to("meta"), torch.empty(tuple(card.input_shape), device="meta"))
    return parameters, work, stored or None
