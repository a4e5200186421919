"""The documentation site: `make docs` builds it into build/site, without a network."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

import newfound

project = "newfound"
author = "The newfound developers"
copyright = author
version = release = newfound.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
    "repository",
]
root_doc = "index"
exclude_patterns = ["notebooks", "*.in.md", "examples", "gallery/**/*.ipynb", "_*"]
templates_path = ["_templates"]
default_role = "py:obj"  # docstrings name parameters and methods in backticks; those that are documented become links

# ---- Markdown

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4  # as on git hosts

# ---- API reference

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections state them, with shapes
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # the template of classes lists them
numpydoc_class_members_toctree = False

# ---- examples

os.environ.setdefault("OMP_NUM_THREADS", "1")
warnings.filterwarnings("ignore", message="ignored column")
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "doc_module": ("newfound",),
    "backreferences_dir": "gallery/backreferences",
    "reference_url": {"newfound": None},
    "image_scrapers": ("pictures.collect",),
    "capture_repr": (),  # what is worth showing is printed
    "show_signature": False,
    "matplotlib_animations": False,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 600,
    "write_computation_times": False,
    "remove_config_comments": True,
    "nested_sections": False,
}

# ---- the site

html_theme = "pydata_sphinx_theme"
html_title = "newfound"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}  # light or dark, as the system is
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": f"newfound {version}"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navigation_depth": 2,
    "show_toc_level": 2,
    "show_prev_next": False,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
