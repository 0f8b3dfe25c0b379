"""Runs that differ in nothing but seeds and weights, found by name or named; groups that differ in more are refused."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from smoothcert.errors import InvalidArgumentError
from smoothcert.report.paper.seed_group import SeedGroup
from smoothcert.report.summary import Summary
from smoothcert.store import differences

_SEED = re.compile(r"(?P<name>.*[^-_/. ])[-_/. ]+seed[-_=]?[0-9]+(?P<end>\.\w+)?")
"""A name that ends in a seed, such as runs/a-seed0, runs/a/seed-1 or a_seed2.tsv. Not a_s1: papers write sigma so."""
_MAY_DIFFER = ("model", "seed", "engine", "source", "versions", "packages", "chunk_votes", "format")


def group_runs(
    summaries: Sequence[Summary],
    named: Mapping[str, Sequence[str]] | None = None,
    *,
    by_name: bool = True,
    paths: Mapping[str, Path] | None = None,
) -> list[SeedGroup]:
    """Return the rows of a table, in the order of their first runs; refuse groups that differ in more than seeds.

    Args:
        summaries: all runs and logs.
        named: names of summaries by the name of their group; a group of one gives a run another name.
        by_name: also group what is named alike but for a trailing seed, such as a-seed0 and a-seed1.
        paths: of summaries by their names, where these are shortened: then the paths tell what is named alike.
    """
    group_of = _named_groups(summaries, named or {})
    whole = {one.name: _whole_name(one.name, (paths or {}).get(one.name)) for one in summaries}
    stems = [_stem(whole[one.name]) if by_name and one.name not in group_of else None for one in summaries]
    rows: dict[tuple[str, str], list[Summary]] = {}
    for summary, stem in zip(summaries, stems, strict=True):
        if summary.name in group_of:
            key = ("named", group_of[summary.name])
        elif stem is not None and stems.count(stem) > 1:
            key = ("seeds", stem)
        else:
            key = ("alone", summary.name)
        rows.setdefault(key, []).append(summary)
    names = [name if kind != "seeds" or not paths else Path(name).name for kind, name in rows]
    groups = [
        SeedGroup(short if names.count(short) == 1 else name, tuple(members))
        for short, ((_, name), members) in zip(names, rows.items(), strict=True)
    ]
    for group in groups:
        check_alike(f"group {group.name}", group.members)
    return groups


def check_alike(what: str, members: Sequence[Summary]) -> None:
    """Refuse summaries that differ in more than seeds and weights, or that are the same run twice.

    Args:
        what: they are to be, for the message.
        members: at least one.
    """
    first, *others = members
    for number, other in enumerate(others, start=1):
        if bool(first.manifest) != bool(other.manifest):
            raise InvalidArgumentError(
                f"{what} holds a run and a log ({first.name}, {other.name}), and a log tells no settings to compare; "
                "give runs alone, or logs alone"
            )
        differing = differences(_settings(first), _settings(other), "{} is {} and {}")
        if differing:
            raise InvalidArgumentError(
                f"{what}: {first.name} and {other.name} differ in more than seeds and weights: "
                f"{'; '.join(differing)}; leave one out"
            )
        twin = next((one for one in members[:number] if _votes_of(one) == _votes_of(other)), None)
        if twin is not None:
            raise InvalidArgumentError(
                f"{what}: {twin.name} and {other.name} are the same run of one model with one seed, so they say "
                "nothing about seeds; leave one out"
            )


def _named_groups(summaries: Sequence[Summary], named: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the group of each summary that was given one; refuse unknown names, and two groups for one run."""
    known, group_of = {one.name for one in summaries}, dict[str, str]()
    for group, members in named.items():
        for member in members:
            if member not in known:
                raise InvalidArgumentError(
                    f"group {group} names {member}, which is not among the runs and logs: {', '.join(sorted(known))}; "
                    "write it as it is given there"
                )
            if member in group_of:
                raise InvalidArgumentError(
                    f"{member} is in group {group_of[member]} and in group {group}, twice; choose one"
                )
            group_of[member] = group
    return group_of


def _whole_name(name: str, path: Path | None) -> str:
    """Return the path of a summary whose name is the end of it, else the name that it was given."""
    shown = Path(name).parts
    return str(path) if path is not None and path.parts[-len(shown) :] == shown else name


def _stem(name: str) -> str | None:
    found = _SEED.fullmatch(name.rstrip("/"))
    return None if found is None else found["name"]


def _settings(summary: Summary) -> dict[str, Any]:
    """Return all that two runs of a group have in common; of a log, its images and what it asked."""
    shared = {key: value for key, value in summary.manifest.items() if key not in _MAY_DIFFER}
    if "ensemble" in shared:
        ensemble = dict(shared["ensemble"])
        shared["ensemble"] = {**ensemble, "members": len(ensemble["members"])}
    results = summary.results
    return {
        **shared,
        "images": results.index.tolist(),
        "labels": results.label.tolist(),
        "asked radii": summary.asked,
    }


def _votes_of(summary: Summary) -> Any:
    """Return what decides the votes of a run; of a log, its radii."""
    if summary.manifest:
        return summary.manifest["model"], summary.manifest["seed"]
    return summary.results.predicted.tobytes(), summary.results.radius.tobytes()
