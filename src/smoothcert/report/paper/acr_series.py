"""ACR of runs against what their models cost, as series of runs that can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from smoothcert.noise import in_words
from smoothcert.report.members import run_setting
from smoothcert.report.paper.model_folders import ModelFolder, folder_of
from smoothcert.report.paper.seed_group import SeedGroup
from smoothcert.report.summary import Summary

Folders = Mapping[str, ModelFolder]
Series = dict[str, list[tuple[float, float]]]


def over_members(summaries: Sequence[Summary], folders: Folders) -> Series:
    """Return (members, ACR) of the runs of single networks and ensembles; those of several heads are left out.

    Without its folder a run of a network with several heads is taken for an ensemble: its manifest names heads as
    members.
    """

    def members(one: Summary, folder: ModelFolder | None) -> int | None:
        if folder is not None and folder.heads != 1:
            return None
        return len(one.manifest.get("ensemble", {}).get("members", ())) or 1

    return _series(summaries, folders, members)


def over_heads(summaries: Sequence[Summary], folders: Folders) -> Series:
    """Return (heads, ACR) of the runs of one network each, whose folders were given: only those tell heads."""

    def heads(_: Summary, folder: ModelFolder | None) -> int | None:
        return folder.heads if folder is not None and len(folder.networks) == 1 else None

    return _series(summaries, folders, heads)


def over_time(groups: Iterable[SeedGroup], folders: Folders) -> Series:
    """Return (seconds of training, ACR) of the groups whose runs all have a folder that tells it.

    Of those under the settings that most of them share, because others cannot be compared.
    """
    by_setting: dict[str, Series] = {}
    for group in groups:
        if not group.members[0].manifest:
            continue
        series = by_setting.setdefault(repr(run_setting(group.members[0])), {})
        found = [(folder_of(one, folders), one.acr) for one in group.members]
        points = [
            (folder.seconds, acr)
            for folder, acr in found
            if folder is not None and folder.seconds is not None
        ]
        if len(points) == group.seeds:
            series[group.name] = [(float(seconds), acr) for seconds, acr in points]
    return max(by_setting.values(), key=len, default={})


def _series(
    summaries: Sequence[Summary],
    folders: Folders,
    number_of: Callable[[Summary, ModelFolder | None], int | None],
) -> Series:
    """Return the series that have two different numbers or more; single networks stand in each that they fit."""
    single: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    several: dict[tuple[tuple[str, ...], str], list[tuple[float, float]]] = {}
    for one in summaries:
        if not one.manifest:
            continue
        folder = folder_of(one, folders)
        number = number_of(one, folder)
        if number is None:
            continue
        key = (_words(one, folder), *map(repr, run_setting(one)))
        if number == 1:
            single.setdefault(key, []).append((1.0, one.acr))
        else:
            several.setdefault((key, _voting(one)), []).append((float(number), one.acr))
    series: Series = {}
    for (key, voting), points in several.items():
        whole = [*single.get(key, ()), *points]
        if len({number for number, _ in whole}) > 1:
            series[_unused(f"{key[0]}{voting}", series)] = whole
    return series


def _words(one: Summary, folder: ModelFolder | None) -> str:
    noise = {name: value for name, value in one.manifest["noise"].items() if name != "name"}
    told = f"{one.manifest['noise']['name']} noise {in_words(noise)}"
    return told if folder is None else f"{folder.method}, {told}"


def _voting(one: Summary) -> str:
    """Return how members vote and when they stop, in words."""
    ensemble = one.manifest.get("ensemble", {})
    early = ensemble.get("early_exit")
    stops = "" if early is None else f", {early.get('kind', '')}"
    return f", {ensemble.get('rule', '')} vote{stops}"


def _unused(name: str, taken: Iterable[str]) -> str:
    """Return a name that no other series has: those of the same words under other settings are numbered."""
    names, number = set(taken), 2
    chosen = name
    while chosen in names:
        chosen, number = f"{name} ({number})", number + 1
    return chosen
