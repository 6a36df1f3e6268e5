"""What people look at: pictures and pages."""

from cape.report._charts import draw_prevalences, frame_prevalences, save_chart
from cape.report._charts_paper import save_pictures

__all__ = ["draw_prevalences", "frame_prevalences", "save_chart", "save_pictures"]
