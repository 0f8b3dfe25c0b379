"""A command with options that its groups make when its parameters are first asked for."""

from __future__ import annotations

from typing import Any, ClassVar

from typer.core import TyperCommand

from smoothcert.cli.members.command_option import built
from smoothcert.cli.members.group import OptionGroup
from smoothcert.errors import InvalidArgumentError


class MemberCommand(TyperCommand):
    """A command that takes the options of its groups beside its own.

    The help of the whole program asks no command for its parameters, so it imports no member.
    """

    groups: ClassVar[tuple[OptionGroup, ...]] = ()

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the command's own parameters, those of the groups, and --help."""
        params: list[Any] = super().get_params(ctx)
        own = len(self.params)
        return [
            *params[:own],
            *(param for made in self._made().values() for param in made.values()),
            *params[own:],
        ]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; what belongs to a group goes to its place in the context."""
        rest: list[str] = super().parse_args(ctx, self._with_values(args))
        for group in self.groups:
            values = {
                name: ctx.params.pop(param.name, None) for name, param in self._made()[group.key].items()
            }
            ctx.meta[group.place] = {name: value for name, value in values.items() if value is not None}
        return rest

    def _with_values(self, args: list[str]) -> list[str]:
        """Return arguments in which an option that may stand without its value, "[VALUE]", has an empty one there.

        Typer knows no such options. What follows is the value unless it begins with a dash.
        """
        optional = [param for param in self.params if str(param.metavar).startswith("[")]
        bare = {name for param in optional for name in param.opts if name.startswith("-")}
        return [
            f"{word}=" if word in bare and (not rest or rest[0].startswith("-")) else word
            for word, *rest in (args[place:] for place in range(len(args)))
        ]

    def _made(self) -> dict[str, dict[str, Any]]:
        """Return the parameters by group and option; made once, because a parser tells them apart by identity."""
        if not hasattr(self, "_params_by_group"):
            self._params_by_group = self._make()
        return self._params_by_group

    def _make(self) -> dict[str, dict[str, Any]]:
        taken = {name for param in self.params for name in (*param.opts, *param.secondary_opts)} | {"--help"}
        made: dict[str, dict[str, Any]] = {}
        for group in self.groups:
            options = group.options()
            for option in options:
                if not taken.isdisjoint(option.spellings):
                    raise InvalidArgumentError(
                        f"{option.owner} has an option --{option.name}, which `smoothcert {self.name}` takes for "
                        "something else; rename it in that package, or uninstall it"
                    )
                taken.update(option.spellings)
            params = built(options, group.key, group.panel)
            made[group.key] = {option.name: param for option, param in zip(options, params, strict=True)}
        return made


def command_with(*of: OptionGroup) -> type[MemberCommand]:
    """Return the class of a command that takes the options of these groups."""

    class Command(MemberCommand):
        groups = of

    return Command
