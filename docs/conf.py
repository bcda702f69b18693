"""Sphinx configuration: Markdown pages, numpydoc docstrings, the furo theme."""

from importlib.metadata import version as installed
from importlib.util import find_spec

project = "softlookup"
author = "The softlookup authors"
copyright = "The softlookup authors"
release = version = installed("softlookup")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
default_role = "code"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_mock_imports = [] if find_spec("torch") else ["torch"]  # one class is of torch's
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's Parameters say more than the annotation
numpydoc_show_class_members = False

html_theme = "furo"
html_title = "softlookup"
html_static_path = []
html_show_sphinx = False
