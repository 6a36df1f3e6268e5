"""Pages and pictures that people look at.

`write_report` writes an examined batch as one page. A *summary* is a dict with all that
a page says; the functions ``*_summary`` make the summaries of the four kinds of pages.
"""

from cape._io import check_report
from cape._packages import require_extra

require_extra("app", "altair", "jinja2", "vl_convert", what="cape.report")

from cape.report._audit_summary import audit_summary
from cape.report._batch_summary import batch_summary
from cape.report._demo_chart import draw_prevalences, frame_prevalences
from cape.report._explorer import (
    Members,
    explorer_data,
    explorer_summary,
    members_of,
    outcomes,
)
from cape.report._html import to_html, write_report
from cape.report._made import file_provenance
from cape.report._monitor_summary import monitor_summary
from cape.report._picture import save_chart

__all__ = [
    "Members",
    "audit_summary",
    "batch_summary",
    "check_report",
    "draw_prevalences",
    "explorer_data",
    "explorer_summary",
    "file_provenance",
    "frame_prevalences",
    "members_of",
    "monitor_summary",
    "outcomes",
    "save_chart",
    "to_html",
    "write_report",
]
