"""
A share of positives moves
==========================

Text.
"""

import altair as alt
import pandas as pd

frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
frame

# %%
# And a chart.

alt.Chart(frame, title="A line").mark_line().encode(x="a:Q", y="b:Q")
