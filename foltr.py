"""The `foltr` command."""


def main() -> None:
    """Run the command line."""
