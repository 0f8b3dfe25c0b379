"""Where votes are drawn: `--ray`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from smoothcert import execution
from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief

Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="[ADDRESS]",
        help="Draw the votes on a Ray cluster: at host:port of its head, or auto for the one of this machine; "
        "without an address on one of this machine alone.",
    ),
]


def where(ray: str | None, workers: int | None) -> dict[str, Any]:
    """Return where to draw votes, as arguments of a run.

    Args:
        ray: what --ray says; empty without an address, None where it is not given.
        workers: what --workers says.
    """
    if ray is None:
        return {"workers": workers}
    if ray and not execution.is_address(ray):
        raise InvalidArgumentError(
            f"--ray took {brief(ray)} for the address of a cluster, which is host:port or auto; if it is the model or "
            "the run, write that first: --ray takes the word behind it"
        )
    return {"workers": None, "execution": execution.RayExecution(ray or None, workers=workers)}
