"""How many rows of each group to label for an interval of a given width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cape._labelled import LabelFree, labels_for_width, score_cells
from cape._prediction import adapt_and_test, check_same_model
from cape._validation import check_fitted_cape, check_prevalence
from cape.classifier import CapeClassifier
from cape.diagnostics._result import group_index
from cape.evidence import Evidence

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["labels_needed"]


def labels_needed(
    clf: CapeClassifier, evidence: Evidence, width: float, *, level: float = 0.95
) -> pd.DataFrame:
    """Compute how many labels of each group give an interval of a given width.

    The plan is made for the prevalence, within the label-free interval, that is nearest
    1/2: it needs the most labels. Rows are to be drawn by `rows_to_label`. If more than
    the prevalences moved, the score may tell less than it did in training, and the
    interval comes out wider.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    evidence : Evidence
        Of the batch. Labels that it has already make no difference.
    width : float in (0, 1)
        Width of the interval of the prevalence, from its low end to its high end.
    level : float in (0, 1), default=0.95
        Confidence level of the interval.

    Returns
    -------
    DataFrame
        For each group its ``rows``; ``labels``, how many of them to label; ``plain``,
        how many it would take if rows were drawn plainly and only their labels were
        used; ``saving``, the share that is saved; and ``prevalence``, the prevalence
        that the plan was made for.

    See Also
    --------
    rows_to_label : Draw the rows.
    rows_needed : How many rows a batch needs if no row is labelled.

    Examples
    --------
    >>> from cape.diagnostics import labels_needed
    >>> evidence = clf.evidence(new.data, sensitive_features=new.sensitive_features)
    >>> needed = labels_needed(clf, evidence, 0.1)
    >>> bool((needed["labels"] < needed["plain"]).all())
    True
    """
    import pandas as pd

    check_fitted_cape(clf)
    check_same_model(clf, "evidence", evidence, Evidence)
    check_prevalence("width", width, closed=False)
    check_prevalence("level", level, closed=False)
    models = {group: clf.model_of(group) for group in evidence.groups}
    # Without the warnings of `clf.adapt`: nobody has asked for an estimate.
    adaptation, _ = adapt_and_test(models, evidence, level=level, drift=clf.drift)
    lines = []
    for group, part in evidence.groups.items():
        adapted = adaptation.groups[group]
        label_free = LabelFree(
            adapted.label_free_estimate,
            adapted.label_free_low,
            adapted.label_free_high,
            level,
        )
        need = labels_for_width(
            models[group], score_cells(part), label_free, adapted.mean_score, width
        )
        lines.append(
            {
                "rows": adapted.rows,
                "labels": need.labels,
                "plain": need.plain,
                "saving": need.saving,
                "prevalence": need.prevalence,
            }
        )
    return pd.DataFrame(lines, index=group_index(evidence.groups))
