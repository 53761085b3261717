"""How the documentation is built: `make docs`."""

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]
# Progress bars and live lines have no place in pages, colours of terminals neither.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["NO_COLOR"] = "1"

import pages  # noqa: E402
from sphinx_gallery.sorting import FileNameSortKey  # noqa: E402

import maxmargin  # noqa: E402

project = "maxmargin"
author = "The maxmargin developers"
copyright = f"2026, {author}"
version = release = maxmargin.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "myst_parser",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
    "docstrings",
    "drawings",
    "lab_pages",
    "reference",
    "machine_readable",
]
root_doc = "index"
exclude_patterns = [
    "_build",
    "_ext",
    "checks",
    "**/*.ipynb",
    "**/*.py.md5",
    "**/sg_execution_times.rst",
]
suppress_warnings = ["config.cache"]
nitpicky = True
# What docstrings put between single backticks is code.
default_role = "code"

# ---- text ----------------------------------------------------------------------------------------

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# ---- gallery -------------------------------------------------------------------------------------

warnings.filterwarnings("ignore", message=".*is non-interactive.*")
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery", "../examples/lectures"],
    "gallery_dirs": ["gallery", "lectures"],
    "filename_pattern": r"plot_|lecture_",
    "within_subsection_order": FileNameSortKey,
    "subsection_order": pages.subsection_rank,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "plot_gallery": "True",
    "matplotlib_animations": (True, "jshtml"),
    "reset_modules": ("matplotlib",),
    "doc_module": ("maxmargin",),
    "backreferences_dir": None,
}

# ---- look ----------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = f"maxmargin {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_show_sphinx = False
html_copy_source = False
# Summaries are fetched, which browsers refuse for files.
html_show_search_summary = False
html_theme_options = {
    "logo": {"image_light": "_static/mark.svg", "image_dark": "_static/mark.svg", "text": project},
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": []}

# One file, glyphs inside; `drawings` copies it from the package sphinx-mathjax-offline.
mathjax_path = "mathjax/tex-svg-full.js"
mathjax3_config = {
    "options": {"enableMenu": False},
    "svg": {"fontCache": "local"},
    "tex": {
        "macros": {
            "R": r"\mathbb{R}",
            "half": r"\tfrac{1}{2}",
            "T": r"^{\mathsf T}",
            "norm": [r"\left\lVert #1 \right\rVert", 1],
        }
    },
}
