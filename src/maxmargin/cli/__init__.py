"""The command `maxmargin`: from a file to a certified model and a report."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command with the arguments of the process."""
    try:
        from .app import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich", "polars", "click"):
            raise
        sys.exit(f"maxmargin: {error.name} is not installed: pip install {error.name}")
    run()
