"""`python -m maxmargin.cli` is the command `maxmargin`."""

from . import main

if __name__ == "__main__":
    main()
