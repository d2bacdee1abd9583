"""``python -m weir``: the command."""

from ._command import main

main()
