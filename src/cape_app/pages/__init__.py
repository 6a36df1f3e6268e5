"""Pages that people look at: `write_report` writes an examined batch as one page.

Every kind of page has a *summary*, a dict with all that the page says.
"""

from cape.base._packages import require_extra

require_extra("app", "altair", "jinja2", "vl_convert", what="cape_app.pages")

from cape_app.pages._html import to_html, to_text, write_report

__all__ = ["to_html", "to_text", "write_report"]
