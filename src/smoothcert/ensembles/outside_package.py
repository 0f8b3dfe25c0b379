"""Which package a member of an ensemble's make comes from, where it is not this one."""

from __future__ import annotations

from typing import Any

from smoothcert.registry import Registry


def outside_package(registry: Registry[Any], name: str) -> dict[str, str]:
    """Return the version of the package that a registered member comes from, by its name; nothing for this package.

    Args:
        registry: where the member is.
        name: of the member; one that is not registered is of no package.
    """
    package = registry.package_of(name) if name in registry else None
    return {} if package is None else {package.name: package.version}
