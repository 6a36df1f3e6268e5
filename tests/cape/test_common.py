"""scikit-learn's own checks, and the only ones that CAPE must fail."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from cape import CapeClassifier

# scikit-learn's checks use data on which learners do not converge, and ask for warnings
# themselves.
pytestmark = pytest.mark.filterwarnings("ignore")

DEPENDS_ON_BATCH = (
    "A prediction depends on the batch it comes in: the estimated prevalence chooses "
    "the member."
)
DRAWS_DIFFER = (
    "PP-SAMPLING draws rows, and weights are draw probabilities: repeated rows in "
    "another order are the same distribution, but other draws."
)

MUST_FAIL = {
    "resampled": {
        "check_methods_subset_invariance": DEPENDS_ON_BATCH,
        "check_sample_weight_equivalence_on_dense_data": DRAWS_DIFFER,
        "check_sample_weight_equivalence_on_sparse_data": DRAWS_DIFFER,
    },
    "threshold": {"check_methods_subset_invariance": DEPENDS_ON_BATCH},
}

QUICK = {"cv": 2, "prevalences": 2, "min_group_size": 2}


@parametrize_with_checks(
    [CapeClassifier(LogisticRegression(), **QUICK, pool=pool) for pool in MUST_FAIL],
    expected_failed_checks=lambda clf: MUST_FAIL[clf.pool],
    # A declared failure that passes is a failure.
    xfail_strict=True,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
