"""Which families a file may be of, and whether it is the network that it, or the user, says it is."""

from __future__ import annotations

from smoothcert.errors import CheckpointError, InvalidArgumentError, UnknownNameError
from smoothcert.folders.checkpoints.content import Content
from smoothcert.folders.checkpoints.family import FAMILIES
from smoothcert.folders.checkpoints.layout import Placed
from smoothcert.folders.checkpoints.prefixes import Unwrapped
from smoothcert.networks import DENOISERS, MODELS
from smoothcert.visible import brief


def fitting_families(
    content: Content, weights: Unwrapped, found: Placed, arch: str | None, family: str | None
) -> list[str]:
    """Return the names of the families that a file may be of; refuse one that was named and is none of them.

    Args:
        content: what the file says.
        weights: of it, without prefixes.
        found: the network that they are.
        arch: what the network is called.
        family: the user's word; None leaves it to the file.
    """
    if family is not None:
        FAMILIES[family]  # an unknown name is answered with the known ones
    fitting = [
        name for name in FAMILIES if FAMILIES[name].fits(content.holder, weights.is_second, arch, found)
    ]
    if family is None:
        return fitting
    if family not in fitting:
        raise InvalidArgumentError(
            f"the file is none of family {family!r} ({FAMILIES[family].summary}): it holds {found.architecture}"
            f"{'' if arch is None else f', called {brief(arch)}'}, under {content.holder or 'no key'}, "
            f"{'behind' if weights.is_second else 'without'} a layer that normalises; it may be of: "
            f"{', '.join(fitting) or 'none that is known'}"
        )
    return [family]


def refuse_other_name(source: str, told: str | None, arch: str | None, found: Placed) -> None:
    """Refuse weights of another network than the user or the file says.

    Args:
        source: names the file in messages.
        told: the file's own name of its network; None where it has none.
        arch: the user's, which goes before the file's; None where nothing was said.
        found: the network that the weights are.
    """
    name = told if arch is None else arch
    if name is None:
        return
    meanings = {name} | {FAMILIES[family].meaning(name) for family in FAMILIES}
    if found.architecture in meanings:
        return
    if arch is None:
        raise CheckpointError(
            f"{source} calls its network {brief(name)}, but its weights are those of {found.architecture}; if they "
            f"are what you want, say --arch {found.architecture} (arch={found.architecture!r})"
        )
    if not any(meaning in MODELS or meaning in DENOISERS for meaning in meanings):
        aliases = sorted({alias for family in FAMILIES for alias in FAMILIES[family].aliases})
        raise UnknownNameError(
            f"unknown architecture {brief(arch)}; known: {', '.join([*MODELS, *DENOISERS, *aliases])}"
        )
    raise InvalidArgumentError(
        f"arch is {brief(arch)}, but the weights in {source} are those of {found.architecture}; leave arch out, or "
        "give another file"
    )
