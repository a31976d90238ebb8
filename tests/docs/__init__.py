"""What builds the site, file by file."""

import sys
from pathlib import Path

# Sphinx finds its extensions in this way too.
sys.path.append(str(Path(__file__).parents[2] / "docs" / "_extensions"))
