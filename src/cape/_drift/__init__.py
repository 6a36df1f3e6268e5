"""What has moved besides the prevalences, and what is known of them after all.

Under prior shift the scores and every single column of a batch speak for the same
prevalence. Where they do not, the size of their disagreement tells how far the answer
of the scores may be off. The posterior weighs that answer against what was known
before.
"""

from cape._drift._find import (
    ColumnDrift,
    GroupDrift,
    find_drift,
    judge,
    variance_between,
)
from cape._drift._mixture import mixture_cuts
from cape._drift._posterior import (
    DRIFT_INFLATION,
    Posterior,
    find_posterior,
    mean_score,
)
