"""A backtest says what fit and adapt say, and knows nothing of the future."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, Scores, backtest, examine
from cape.metrics import proportional_equality_matrix

GROUPS = ("a", "b")


def history(shares, n=300, seed=0, drift=0.0):
    """Draw periods of two groups; ``shares`` has a row for each period."""
    rng = np.random.default_rng(seed)
    frames = []
    for year, of_groups in enumerate(shares, 2010):
        for group, share in zip(GROUPS, of_groups, strict=True):
            y = rng.random(n) < share
            x = rng.normal(size=(n, 2)) + 1.2 * y[:, None]
            x += drift * rng.normal()
            frame = pd.DataFrame(x, columns=["u", "v"])
            frames.append(frame.assign(y=y.astype(int), z=group, year=year))
    return pd.concat(frames, ignore_index=True)


def run(table, clf=None, **settings):
    """Backtest a table of `history`."""
    if clf is None:
        clf = model()
    settings = {"period": "year", **settings}
    return backtest(clf, table.drop(columns="y"), table["y"], **settings)


def model(**settings):
    return CapeClassifier(
        LogisticRegression(), group_columns="z", random_state=0, cv=3, **settings
    )


MOVING = [(0.3, 0.5), (0.4, 0.6), (0.35, 0.5), (0.5, 0.7), (0.45, 0.6)]


@pytest.fixture(scope="module")
def moving():
    return history(MOVING)


@pytest.fixture(scope="module")
def result(moving):
    return run(moving)


def test_a_row_is_what_fit_and_adapt_say_of_the_period(moving, result):
    """The first transition, recomputed by hand: nothing had been learned before."""
    old = moving[moving["year"] == 2010]
    new = moving[moving["year"] == 2011].reset_index(drop=True)
    columns = ["u", "v", "z"]
    clf = model().fit(old[columns], old["y"])
    adapted = clf.adapt(new[columns]).table()
    predicted = clf.predict(new[columns])
    table = result.table()
    for group in GROUPS:
        row = table.loc[(2011, group)]
        own = new["z"] == group
        truth = new["y"][own].mean()
        assert row["truth"] == pytest.approx(truth)
        for name in ("estimate", "low", "high", "mean_score"):
            assert row[name] == pytest.approx(adapted.loc[group, name])
        assert row["last"] == pytest.approx(old["y"][old["z"] == group].mean())
        assert row["off"] == pytest.approx(abs(row["estimate"] - truth))
        assert row["last_off"] == pytest.approx(abs(row["last"] - truth))
        assert row["predicted"] == pytest.approx(predicted[own].mean())
        assert row["pd"] == pytest.approx(abs(predicted[own].mean() - truth))
        assert row["trained_on"] == 2010


def test_the_learner_as_it_is_is_cut_at_one_half(moving):
    """With many rows there is a cut near 1/2."""
    given = moving.assign(p=1 / (1 + np.exp(-moving["u"] - moving["v"] + 1)))
    clf = CapeClassifier(Scores("p", "d"), group_columns="z", random_state=0)
    X = given[["p", "z", "year"]].assign(d=given["p"] > 0.5)
    table = backtest(clf, X, given["y"], period="year").table()
    for (year, group), row in table.iterrows():
        own = (given["year"] == year) & (given["z"] == group)
        assert row["learner"] == pytest.approx((given["p"][own] > 0.5).mean())
        # Decisions as they were made are not changed.
        assert row["predicted"] == pytest.approx(row["learner"])


def test_totals_are_means_of_the_rows_and_medians_of_the_pairs(moving, result):
    table = result.table()
    summary = result.summary
    for name in ("off", "last_off", "mean_score_off", "pd", "learner_pd"):
        assert summary[name] == pytest.approx(table[name].mean())
    assert summary["held"] == table["held"].sum()
    assert summary["cells"] == len(table) == 8
    pes = []
    for _, part in table.groupby(level="period"):
        t, q = part["truth"].to_numpy(), part["predicted"].to_numpy()
        pes += [abs(t[0] / t[1] - q[0] / q[1]), abs(t[1] / t[0] - q[1] / q[0])]
    assert summary["pe"] == pytest.approx(np.median(pes))


def test_groups_of_one_period_are_one_observation(result):
    """Of groups with equally many periods, the interval is that of the period means."""
    table = result.table()
    means = (table["off"] - table["last_off"]).groupby(level="period").mean()
    low, high = stats.t.interval(0.95, len(means) - 1, means.mean(), stats.sem(means))
    difference = result.summary["difference"]
    assert difference["value"] == pytest.approx(means.mean())
    assert difference["low"] == pytest.approx(low)
    assert difference["high"] == pytest.approx(high)


def test_a_future_period_changes_nothing_that_was_said_before_it(moving, result):
    """Rows and labels of 2013 are turned upside down."""
    altered = moving.copy()
    future = altered["year"] == 2013
    altered.loc[future, "y"] = 1 - altered.loc[future, "y"]
    altered.loc[future, ["u", "v"]] *= -3
    there = run(altered).table()
    before = result.table().loc[:2012]
    pd.testing.assert_frame_equal(there.loc[:2012], before, check_dtype=False)
    assert not there.loc[2013].equals(result.table().loc[2013])


@pytest.mark.parametrize("horizon", [1, 2])
def test_labels_of_the_predicted_period_are_not_used_for_it(moving, horizon):
    """Nor, with a horizon of two, those of the period before it."""
    altered = moving.copy()
    late = altered["year"] > 2014 - horizon
    rng = np.random.default_rng(1)
    altered.loc[late, "y"] = rng.integers(0, 2, late.sum())
    said = ["estimate", "low", "high", "mean_score", "predicted", "action", "last"]
    here = run(moving, horizon=horizon).table().loc[2014, said]
    there = run(altered, horizon=horizon).table().loc[2014, said]
    pd.testing.assert_frame_equal(here, there)


def test_jobs_change_nothing(moving, result):
    pd.testing.assert_frame_equal(run(moving, n_jobs=2).table(), result.table())


def test_the_order_of_rows_changes_no_truth(moving, result):
    """Rows of all periods are mixed."""
    mixed = moving.sample(frac=1, random_state=0).reset_index(drop=True)
    names = ["truth", "last", "rows", "trained_on"]
    pd.testing.assert_frame_equal(run(mixed).table()[names], result.table()[names])


@pytest.mark.parametrize(
    ("settings", "trained"),
    [
        ({}, [600] * 4),
        ({"train": 2}, [1200] * 3),
        ({"train": "all"}, [600, 1200, 1800, 2400]),
    ],
)
def test_train_says_what_is_trained_on(moving, settings, trained, monkeypatch):
    """A learner that counts its rows tells how many it was given."""
    sizes = []
    fit = CapeClassifier.fit

    def count(self, X, y, **groups):
        sizes.append(len(X))
        return fit(self, X, y, **groups)

    monkeypatch.setattr(CapeClassifier, "fit", count)
    run(moving, **settings)
    assert sizes == trained


def test_a_period_is_never_a_feature(moving, result):
    """By name, as an array, and as text it gives the same."""
    X = moving[["u", "v", "z"]]
    for years in (moving["year"].to_numpy(), moving["year"].astype(str)):
        other = backtest(model(), X, moving["y"], period=years).table()
        values = result.table().to_numpy()
        assert other.to_numpy().tolist() == values.tolist()


def test_groups_may_stand_beside_the_table(moving, result):
    clf = CapeClassifier(LogisticRegression(), random_state=0, cv=3)
    X = moving[["u", "v"]].to_numpy()
    there = backtest(
        clf, X, moving["y"], period=moving["year"], sensitive_features=moving["z"]
    )
    np.testing.assert_allclose(there.table()["estimate"], result.table()["estimate"])


def test_dates_are_cut_into_periods(moving, result):
    dates = pd.to_datetime(moving["year"].astype(str) + "-03-09")
    X = moving[["u", "v", "z"]]
    quarters = backtest(model(), X, moving["y"], period=dates, freq="quarter")
    assert quarters.table().index[0] == ("2011Q1", "a")
    assert quarters.summary["off"] == result.summary["off"]
    text = backtest(model(), X, moving["y"], period=dates.astype(str), freq="year")
    assert text.table().index[0] == ("2011", "a")


def test_labels_are_drawn_for_every_transition(moving):
    """With all rows labelled the truth is known; with 60 a group it is nearer."""
    said = run(moving, labels=60)
    table = said.table()
    assert (table["labelled"] == 60).all()
    assert said.summary["labels_off"] == pytest.approx(table["labels_off"].mean())
    everything = run(moving, labels=300).table()
    np.testing.assert_allclose(everything["labels_estimate"], everything["truth"])
    pd.testing.assert_series_equal(everything["estimate"], table["estimate"])


def test_json_is_strict_and_holds_the_rows(moving):
    content = json.loads(run(moving, labels=20).to_json(), parse_constant=pytest.fail)
    assert len(content["rows"]) == content["cells"] == 8
    assert content["groups"][0]["group"] == "a"


def test_every_face_shows_the_summary(result):
    assert "last share" in repr(result)
    assert repr(result).split("\n")[0].split(".")[0] in result._repr_html_()
    panels = result.plot().to_dict()["concat"]
    assert [panel["title"] for panel in panels] == ["a", "b"]


def left_out(table, **settings):
    return run(table, **settings).summary["skipped"]


def test_periods_that_say_nothing_are_left_out_and_said(moving):
    """A period of 3 rows, one of one class, and one without labels: the next one."""
    few = moving[moving["year"] == 2010].head(3).assign(year=2015)
    one_class = moving[(moving["year"] == 2010) & (moving["y"] == 1)].assign(year=2016)
    new = moving[moving["year"] == 2010].assign(year=2017, y=np.nan)
    table = pd.concat([few, one_class, new, moving], ignore_index=True)
    table.loc[table.index[-4:], "y"] = np.nan
    found = run(table)
    assert [(entry["period"], entry["why"]) for entry in found.summary["skipped"]] == [
        (2014, "missing"),
        (2015, "few_rows"),
        (2016, "one_class"),
        (2017, "no_labels"),
    ]
    assert "2017: no labels, so it is what is to be predicted" in repr(found)
    assert found.summary["last"] == 2014


def test_groups_come_and_go(moving):
    """Nobody can predict a group that was not there; then it is trained on."""
    table = moving[(moving["z"] == "a") | (moving["year"] > 2011)]
    found = run(table)
    (entry,) = found.summary["skipped"]
    assert (entry["period"], entry["why"], entry["groups"]) == (
        2012,
        "new_groups",
        ["b"],
    )
    assert found.table().loc[2012].index.tolist() == ["a"]
    assert found.table().loc[2013].index.tolist() == ["a", "b"]
    pooled = run(table, model(unknown_groups="pooled"))
    assert pooled.table().loc[2012].index.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"period": "month"}, "period must be columns of X"),
        ({"horizon": 0}, "horizon must be .*a whole number of at least 1"),
        ({"train": "first"}, "train must be 'last', 'all', or a whole number"),
        ({"labels": 0.5}, "labels must be None, or a whole number"),
        ({"horizon": 5}, "period must give 6 periods"),
        ({"period": "u", "freq": "year"}, "period must hold dates such as"),
    ],
)
def test_mistakes_are_named(moving, settings, says):
    with pytest.raises(ValueError, match=says):
        run(moving, **settings)


@pytest.mark.parametrize(
    "periods",
    [
        ["03.02.2024", "01.12.2024"],
        ["Q1 2024", "Q2 2024"],
        ["Jan 2024", "Apr 2024"],
        ["2024-01", "2024-1"],
        [2024, "2025"],
        ["2024", None],
    ],
)
def test_periods_that_would_be_in_the_wrong_order_are_refused(moving, periods):
    period = np.resize(np.array(periods, dtype=object), len(moving))
    with pytest.raises(ValueError, match="period must"):
        backtest(model(), moving[["u", "v", "z"]], moving["y"], period=period)


def test_one_period_is_no_past(moving):
    with pytest.raises(ValueError, match="period must give 2 periods"):
        run(moving[moving["year"] == 2012])


@pytest.mark.slow
def test_two_hundred_periods():
    table = history([(0.4, 0.5)] * 200, n=14)
    clf = CapeClassifier(Scores("u"), random_state=0)
    table = table.drop(columns="z")
    assert run(table, clf).summary["transitions"] == 199


def test_an_examination_beside_the_truth(moving):
    old, new = moving[moving["year"] == 2010], moving[moving["year"] == 2011]
    columns = ["u", "v", "z"]
    clf = model().fit(old[columns], old["y"])
    seen = examine(clf, new[columns])
    scored = seen.score(new["y"])
    table = scored.table()
    assert table["truth"].tolist() == new.groupby("z")["y"].mean().tolist()
    by_metric = proportional_equality_matrix(
        new["y"], clf.predict(new[columns]), sensitive_features=new["z"]
    )
    assert scored.pairs().loc[("a", "b"), "pe"] == pytest.approx(
        by_metric.loc["a", "b"]
    )
    assert json.dumps(scored.to_dict(), allow_nan=False)
    evidence = examine(clf, evidence=clf.evidence(new[columns]))
    with pytest.raises(ValueError, match="sensitive_features must be given"):
        evidence.score(new["y"])
    again = evidence.score(new["y"], sensitive_features=new["z"])
    pd.testing.assert_frame_equal(again.table(), table)
    with pytest.raises(ValueError, match="the label of every row"):
        evidence.score(new["y"][1:], sensitive_features=new["z"][1:])
    with pytest.raises(ValueError, match="y must hold the labels"):
        seen.score(new["y"] + 1)


def test_use_is_right_within_the_tolerance():
    table = history(MOVING[:2], n=3000)
    old, new = table[table["year"] == 2010], table[table["year"] == 2011]
    columns = ["u", "v", "z"]
    clf = model().fit(old[columns], old["y"])
    seen = examine(clf, new[columns], tolerance=0.2)
    exact = seen.score(new["y"], tolerance=0).table()
    wide = seen.score(new["y"], tolerance=1).table()
    is_used = wide["action"].isin(["use", "shares"])
    assert is_used.any()
    assert wide.loc[is_used, "right"].all()
    assert not exact.loc[is_used, "right"].any()
    assert wide.loc[~is_used, "right"].isna().all()


def test_what_was_expected_stands_beside_what_came(moving):
    old, new = moving[moving["year"] == 2010], moving[moving["year"] == 2011]
    columns = ["u", "v", "z"]
    seen = examine(model().fit(old[columns], old["y"]), new[columns])
    scored = seen.score(new["y"])
    expected = seen.expected
    for group, score in scored.groups.items():
        pd_now = abs(score["predicted"] - score["truth"])
        of_pd = expected.groups[group].pd
        assert score["pd_expected"] == of_pd.value
        assert score["pd_held"] == (of_pd.low - 0.01 <= pd_now <= of_pd.high + 0.01)
    pairs = scored.pairs()
    for pair, row in pairs.iterrows():
        of_pair = expected.between[pair]
        assert row["pe_expected"] == of_pair.value
        assert row["pe_held"] == (of_pair.low <= row["pe"] <= of_pair.high)
    totals = scored.totals
    assert totals["pe_held"] == pairs["pe_held"].sum() <= totals["pairs"] == 2
    assert totals["told"] == scored.table()["action"].value_counts().to_dict()
    assert sum(totals["within"].values()) == scored.table()["within"].sum()
    assert "as expected: PD in" in repr(scored)


@pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")
def test_what_was_learned_changes_what_is_said_next():
    """Shares at random, and calm shares below drifting scores, give unlike pasts.

    Of ten next periods of the same kind, the past of this kind says more: narrower
    intervals, and less beyond their ends.
    """
    rng = np.random.default_rng(0)
    restless = rng.uniform(0.1, 0.9, (18, 2))
    calm = np.tile([0.35, 0.55], (18, 1)) + rng.normal(0, 0.01, (18, 2))
    tables = {
        "restless": history(restless, n=400, seed=1),
        "calm": history(calm, n=400, seed=1, drift=0.1),
    }
    pasts = {}
    for kind, table in tables.items():
        pasts[kind] = run(table[table["year"] < 2018]).past
    told = {kind: np.array(past.told) for kind, past in pasts.items()}
    assert told["calm"].sum() == pytest.approx(7)
    # Rows are moves, the smallest first, and columns are drifts, none first.
    assert told["calm"][:2].sum() > 6 and told["restless"][2:].sum() > 6
    assert told["calm"][:, 2:].sum() > told["restless"][:, 2:].sum()
    columns = ["u", "v", "z"]
    for kind, table in tables.items():
        scores = {}
        for known, past in pasts.items():
            old = table[table["year"] == 2017]
            clf = model(past=past).fit(old[columns], old["y"])
            scores[known] = 0
            for _, new in table[table["year"] > 2017].groupby("year"):
                found = examine(clf, new[columns]).score(new["y"]).table()
                below = (found["low"] - found["truth"]).clip(lower=0)
                above = (found["truth"] - found["high"]).clip(lower=0)
                width = found["high"] - found["low"]
                scores[known] += (width + 40 * (below + above)).mean()
        own = scores.pop(kind)
        (other,) = scores.values()
        assert own < 0.85 * other


def test_a_past_that_is_given_does_not_enter_its_own_record(moving, result):
    """It may have been learned from these very periods."""
    again = run(moving, model(past=result.past))
    pd.testing.assert_frame_equal(again.table(), result.table())
