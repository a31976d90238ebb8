"""Group: a command group whose help lists whole sentences."""

from typing import Any

from typer.core import TyperGroup


class Group(TyperGroup):
    """A group of commands whose help shows the whole first paragraph of each command."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands with the first paragraph of each one's help."""
        del ctx
        about = ((name, command.help or "") for name, command in self.commands.items())
        with formatter.section("Commands"):
            formatter.write_dl([(name, " ".join(text.partition("\n\n")[0].split())) for name, text in about])
