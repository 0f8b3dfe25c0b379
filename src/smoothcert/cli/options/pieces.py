"""A run in pieces on the command line: a plan, a share of it, an extension, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from smoothcert.cli.options.paths import path_option
from smoothcert.errors import InvalidArgumentError

_PANEL = "In pieces"


@dataclass(frozen=True)
class Pieces:
    """Which piece of a run to draw, and how much of it now."""

    plan: Annotated[
        Path | None,
        path_option(
            "--plan",
            text="Draw no vote; write what all shards share to this file. It holds the secret seed.",
            panel=_PANEL,
        ),
    ] = None
    from_plan: Annotated[
        Path | None,
        path_option("--from", text="Draw the run of this plan; MODEL and data as it says.", panel=_PANEL),
    ] = None
    shard: Annotated[
        str | None,
        typer.Option(
            "--shard", help="With --from: I/N, every N-th image from the I-th on.", rich_help_panel=_PANEL
        ),
    ] = None
    extend: Annotated[
        Path | None,
        path_option(
            "--extend",
            text="A run whose seed and engine are used for the chosen images that it lacks; merge adds them.",
            panel=_PANEL,
        ),
    ] = None
    max_votes: Annotated[
        int | None,
        typer.Option(
            "--max-votes", help="Stop in good order after about N votes.", min=1, rich_help_panel=_PANEL
        ),
    ] = None
    max_minutes: Annotated[
        float | None,
        typer.Option("--max-minutes", help="Stop in good order after M minutes.", rich_help_panel=_PANEL),
    ] = None

    def limits(self) -> dict[str, Any]:
        """Return when to stop, as arguments of a run."""
        return {"max_votes": self.max_votes, "max_minutes": self.max_minutes}

    def refuse_beside(self, others: dict[str, bool]) -> None:
        """Refuse options that do not go together.

        Args:
            others: what else was typed, by option: of --from, the plan says it.
        """
        if self.shard is not None and self.from_plan is None:
            raise InvalidArgumentError("--shard is a share of a plan: add --from PLAN, or leave it out")
        if self.from_plan is not None:
            planned = {"--plan": self.plan is not None, "--extend": self.extend is not None, **others}
            for option, typed in planned.items():
                if typed:
                    raise InvalidArgumentError(
                        f"{option} does not go with --from: the plan has settled it; leave it out"
                    )
