"""The training phase of Algorithm 1.

`_data` has the labelled rows, and what is wrong with them; `_learner` one learner: how
its rows are split, trained on and scored; `_train` decides which learners are trained,
and makes the model of each group of what they leave.
"""

from cape._training._data import TrainingData
from cape._training._train import train_groups
