"""Settings of the documentation site: ``make docs`` builds it, without a network."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import public_api  # noqa: E402
import words  # noqa: E402
from docutils import nodes  # noqa: E402
from docutils.utils.math.latex2mathml import tex2mathml  # noqa: E402
from gallery_pictures import AltairScraper  # noqa: E402
from sphinx.util.math import get_node_equation_number  # noqa: E402
from sphinx.util.nodes import make_refnode  # noqa: E402

import cape  # noqa: E402

project = "cape"
author = "the authors of cape"
copyright = "the authors of cape, BSD-3-Clause"
version = release = cape.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "gallery/*.ipynb", "gallery/*.py"]
templates_path = ["_templates"]
# A name in single backticks in a docstring leads to its page, or is a warning.
default_role = "py:obj"
nitpicky = True

public_api.write_api(HERE / "api")
words.write_words(HERE / "words.md")
SHORT_NAMES = public_api.short_names()
autosummary_generate = True
autosummary_generate_overwrite = True
autosummary_filename_map = public_api.file_names()
# The docstrings have the types, in words.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
# default="auto" is code.
smartquotes = False
# Class pages list their members themselves; a table of them would be a second list.
numpydoc_show_class_members = False

# Prompts are not part of what is copied, nor is what a command printed.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
# MathJax would be fetched from elsewhere; browsers draw MathML by themselves.
html_math_renderer = "mathml"
myst_heading_anchors = 4

HAS_COMPAS = (Path(os.environ.get("CAPE_DATA", "")) / "compas").is_dir()
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    # Examples with real data are shown without output where the data are not there.
    "filename_pattern": "/plot_" if HAS_COMPAS else "/plot_(?!.*compas)",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": (AltairScraper(),),
    "reset_modules": (),
    "capture_repr": ("_repr_html_", "__repr__"),
    # Charts are pictures, and the diagram of an estimator is as wide as it is empty.
    "ignore_repr_types": r"altair|cape\.classifier|sklearn",
    "doc_module": ("cape",),
    "backreferences_dir": "gallery/backreferences",
    "abort_on_example_error": True,
    "show_memory": False,
    # Its page of times fetches scripts from elsewhere.
    "write_computation_times": False,
    "show_signature": False,
    "remove_config_comments": True,
    "copyfile_regex": "",
}

html_theme = "pydata_sphinx_theme"
html_title = "cape"
# The theme complains in the console unless it is told.
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["cape.css"]
html_js_files = ["cape.js"]
html_copy_source = False
html_show_sourcelink = False
# A page that was opened from a disk may not read another for a summary of it.
html_show_search_summary = False
html_theme_options = {
    "navbar_start": ["navbar-logo"],
    "navbar_center": ["navbar-nav"],
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "navbar_align": "left",
    "collapse_navigation": True,
    "logo": {"text": "cape"},
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


# Files at the root of the repository that have a page here, under another name.
ROOT_PAGES = {"SECURITY.md": "security.md", "CONTRIBUTING.md": "contributing.md"}


def skip_routing(app, what, name, thing, skip, options):
    """Leave out what scikit-learn adds to estimators for metadata routing."""
    return skip or bool(re.fullmatch(r"set_\w+_request|get_metadata_routing", name))


def find_short_name(app, env, node, contnode):
    """Resolve `CapeClassifier.adapt` in the docstring of any module."""
    if node.get("refdomain") != "py":
        return None
    name, dot, rest = node["reftarget"].partition(".")
    home = SHORT_NAMES.get(name)
    if home is None:
        return None
    domain = env.domains.python_domain
    found = domain.find_obj(env, None, None, f"{home}{dot}{rest}", "obj", 0)
    if not found:
        return None
    full_name, entry = found[0]
    return make_refnode(
        app.builder, node["refdoc"], entry.docname, entry.node_id, contnode, full_name
    )


def link_root_pages(text):
    """Let links to files at the root lead to their pages on the site."""
    for file, page in ROOT_PAGES.items():
        text = re.sub(rf"\]\((\.\./)?{re.escape(file)}", f"]({page}", text)
    return text


def read_source(app, docname, source):
    """Change the links of a page."""
    source[0] = link_root_pages(source[0])


def read_included(app, relative_path, parent_docname, content):
    """Change the links of a file that a page includes."""
    content[0] = link_root_pages(content[0])


def write_formula(translator, node):
    """Write a formula within a line as MathML."""
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def write_equation(translator, node):
    """Write a formula on its own line, with its number if it has a label."""
    # People without a mouse can scroll what is too wide.
    start = translator.starttag(node, "div", CLASS="math", tabindex="0")
    translator.body.append(start)
    translator.body.append(tex2mathml(node.astext(), as_block=True))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})</span>')
    translator.body.append("</div>")
    raise nodes.SkipNode


def setup(app):
    """Connect what is above to Sphinx."""
    app.add_html_math_renderer("mathml", (write_formula, None), (write_equation, None))
    app.connect("autodoc-skip-member", skip_routing)
    app.connect("missing-reference", find_short_name)
    app.connect("source-read", read_source)
    app.connect("include-read", read_included)
