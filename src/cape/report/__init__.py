"""What people look at: pictures and pages."""

from cape.report._charts import draw_prevalences, frame_prevalences, save_chart
from cape.report._charts_paper import save_pictures
from cape.report._explorer import (
    Members,
    explorer_data,
    members_of,
    outcomes,
    worst_pe_of,
)
from cape.report._html import check_report, to_html, write_report
from cape.report._summary import (
    audit_summary,
    batch_summary,
    explorer_summary,
    monitor_summary,
)

__all__ = [
    "Members",
    "audit_summary",
    "batch_summary",
    "check_report",
    "draw_prevalences",
    "explorer_data",
    "explorer_summary",
    "frame_prevalences",
    "members_of",
    "monitor_summary",
    "outcomes",
    "save_chart",
    "save_pictures",
    "to_html",
    "worst_pe_of",
    "write_report",
]
