"""What people look at: pictures and pages."""

from cape.report._charts import draw_prevalences, frame_prevalences, save_chart

__all__ = ["draw_prevalences", "frame_prevalences", "save_chart"]
