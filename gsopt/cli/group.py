"""Group: a list of commands in whole sentences."""

from typing import Any

from typer.core import TyperGroup


class Group(TyperGroup):
    """Commands whose help lists the first paragraph about each, wrapped rather than cut."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands."""
        del ctx
        about = ((name, command.help or "") for name, command in self.commands.items())
        with formatter.section("Commands"):
            formatter.write_dl([(name, " ".join(text.partition("\n\n")[0].split())) for name, text in about])
