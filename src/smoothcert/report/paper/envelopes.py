"""Upper envelope and average of members that are called so by name, as those of logs have to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from smoothcert.errors import InvalidArgumentError
from smoothcert.report.members import MembersCurve, curves_of
from smoothcert.report.paper.groups import check_alike
from smoothcert.report.summary import Summary


def named_curves(
    summaries: Sequence[Summary], envelopes: Mapping[str, Sequence[str]]
) -> Iterator[MembersCurve]:
    """Yield upper envelope and average of members, radius by radius; refuse members that cannot be compared.

    Not found by digests, which logs do not have: `member_curves` does that for runs.

    Args:
        summaries: among which members are looked for.
        envelopes: names of members, by the name that their curves are to have.
    """
    by_name = {one.name: one for one in summaries}
    for name, members in envelopes.items():
        missing = [member for member in members if member not in by_name]
        if missing or len(set(members)) < 2:
            fault = f"{missing[0]} is not among the runs and logs" if missing else "it names fewer than two"
            raise InvalidArgumentError(
                f"envelope {name} needs two members or more, each given as a run or log too: {fault}"
            )
        chosen = [by_name[member] for member in dict.fromkeys(members)]
        check_alike(f"envelope {name}", chosen)
        farthest = max(chosen, key=lambda one: -1.0 if one.reach.largest is None else one.reach.largest)
        yield from curves_of(replace(farthest, name=name), chosen)


def curve_name(curve: MembersCurve) -> str:
    """Return whose curve it is, and which."""
    return f"{curve.ensemble.name}: {curve.name}"
