"""Executes notebooks, each from the first cell to the last, in a folder of its own; nothing is written back."""

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

for name in sys.argv[1:]:
    book = nbformat.read(name, as_version=4)
    nbformat.validate(book)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}})
        try:
            client.execute()
        except CellExecutionError as error:
            sys.exit(f"{name}: {error}")
    print(f"{Path(name).name}: {len(book.cells)} cells")
