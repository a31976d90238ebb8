"""How Sphinx builds the site; `make docs` runs it, and nothing of it needs a network."""

import sys
import warnings
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "gsopt"
version = release = installed("gsopt")
project_copyright = "the authors of gsopt, Apache-2.0"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_design",
    "docstrings",
    "reference",
    "commands",
    "gallery",
]
exclude_patterns = ["_*", "studies/*"]

# Pages
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # the gallery shows what `make notebooks` executed
suppress_warnings = ["misc.highlighting_failure"]  # what commands print is no language

# Docstrings
# It reads signatures out of docstrings too, of which we have none, before our extension folds their parts.
warnings.filterwarnings("ignore", "Unknown section", module="numpydoc")
default_role = "py:obj"
autodoc_typehints_format = "short"
maximum_signature_line_length = 140
numpydoc_show_class_members = False  # the pages of classes list what is their own
numpydoc_class_members_toctree = False

# The look
html_theme = "pydata_sphinx_theme"
html_title = "gsopt"
html_favicon = "_static/icon.svg"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_search_summary = False  # it is fetched, which browsers refuse to pages read from a disk
html_copy_source = False
html_theme_options = {
    "logo": {"text": "gsopt"},
    "navbar_align": "left",
    "navigation_depth": 3,
    "collapse_navigation": True,  # a page's sidebar would list 500 others, and the build take minutes
    "show_nav_level": 1,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars: dict[str, list[str]] = {"index": [], "changelog": []}
