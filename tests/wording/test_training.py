"""What fit warns of: groups are named, with their numbers."""

from cape._wording import _training as wording


def test_warnings_of_fit():
    assert wording.few_rows_of_a_class({("a", 1): 1, "b": 12.5}, 25) == (
        "fewer than min_class_size=25 rows of a class in 'a, 1' (1 row), 'b' "
        "(12.5 rows): intervals of these groups may not hold."
    )
    assert wording.scores_without_signal({"b": 0.512}) == (
        "the scores do not tell the classes apart in 'b' (AUC 0.51): the 95 % interval "
        "of the AUC is not above 0.5. The prevalences of these groups cannot be "
        "estimated from such scores."
    )
    alike = wording.scores_are_alike(0.3, 0.25)
    assert wording.of_group(alike, 0) == (
        "group '0': the scores cannot tell the classes apart (mean score of positives "
        "0.3000, of negatives 0.2500): every estimate will be the training prevalence, "
        "with interval [0, 1]."
    )
    assert wording.rows_are_repeated(4000, 5000) == (
        "4,000 of 5,000 rows occur more than once, with the same label: intervals "
        "count every copy as one more row and will be too narrow. Leave the copies "
        "out, or give each row once with its number as sample_weight."
    )
