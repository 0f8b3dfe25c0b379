"""Which installed packages the members that a run was made with come from, for its manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from smoothcert.registry import Registry, Table

Member = tuple[Registry[Any] | Table[Any], str]
"""Where a member is registered, and its name."""

Packages = dict[str, dict[str, dict[str, str]]]
"""Package and version by kind and name of the member."""


def packages_of(members: Iterable[Member]) -> Packages:
    """Return where those members come from that another package brought; empty if none did.

    Args:
        members: their registries and names; a name that is not registered came with the caller, not with a package.
    """
    packages: Packages = {}
    for registry, name in members:
        package = registry.package_of(name) if name in registry else None
        if package is not None:
            entry = {"package": package.name, "version": package.version}
            packages.setdefault(registry.kind, {})[name] = entry
    return packages


def package_versions(packages: Mapping[str, Any] | None) -> dict[tuple[str, str, str], str]:
    """Return versions by kind and name of the member and the package's name; refuse another shape by ValueError.

    Args:
        packages: what a manifest says, perhaps one that somebody changed; None if it says nothing.
    """
    found = {}
    try:
        for kind, members in (packages or {}).items():
            for name, entry in members.items():
                found[kind, name, entry["package"]] = entry["version"]
                if set(entry) != {"package", "version"} or not all(
                    type(text) is str for text in entry.values()
                ):
                    raise TypeError
    except (AttributeError, LookupError, TypeError):
        raise ValueError(
            'packages must be written like {"noise": {"mine": {"package": .., "version": ..}}}'
        ) from None
    return found


def refuse_other_packages(packages: Mapping[str, Any] | None, members: Sequence[Member]) -> None:
    """Raise ValueError if a manifest does not name the package of a member from outside, or names another.

    Versions may differ: whoever reads a run has what he has installed.

    Args:
        packages: what the manifest says of members of all kinds; None if it says nothing.
        members: registries and names of those to look at.
    """
    kinds = {registry.kind for registry, _ in members}
    told = {entry for entry in package_versions(packages) if entry[0] in kinds}
    here = set(package_versions(packages_of(members)))
    for kind, name, package in sorted(told ^ here):
        whose = (
            f"comes from {package!r} here"
            if (kind, name, package) in here
            else f"does not come from {package!r} here"
        )
        raise ValueError(f"packages must name that of every member from outside: {kind} {name!r} {whose}")
