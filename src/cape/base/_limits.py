"""Limits that decide verdicts, and that sentences cite."""

LEVEL = 0.01
"""Level, over all groups and columns together, at which drift is reported."""

FEWEST_LABELS = 10
"""With fewer labels in a group, no use is made of them: intervals were checked from ten
labels on."""

ONE_CLASS = 0.001
"""Labels of one class only, which the estimate makes less likely than this, are not
used: rows with the other label may have been left empty."""

WIDEST = 0.5
"""An interval of the prevalence that is wider says nothing."""

TOLERANCE = 0.05
"""An estimate that is off by no more is near enough to decide by."""

USEFUL_WIDTH = 0.3
"""Labels whose interval of the prevalence is wider are few: groups seldom differ by
more."""

NOTABLY_HELD_BACK = 0.1
"""Share by which an estimate is held back that a reader should know of."""

CHANCE = 0.8
"""Probability of being so near from which on the predictions of a group are used, and
until which labels are asked for."""

FAR_OFF = 0.1
"""Distance of labels and estimate from which on a refuted estimate is no longer of use.
Labels of a million rows refute estimates that are good for every purpose."""

FEWEST_ROWS_TO_ADAPT = 10
"""A batch of fewer rows is a question of a service, and tells no prevalence."""
