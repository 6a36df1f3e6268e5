"""The explorer: its closed form against loops, counted people and the script."""

import json
import re
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.metrics import confusion_by_group, proportional_equality
from cape.metrics._between import worst_pe
from cape.report._model import Members, explorer_data, members_of, unadapted
from cape.rules._rules import nearest_member

hundredths = st.integers(0, 100)
# Tenths: members often tie.
rate = st.integers(0, 10) | st.integers(0, 50).map(lambda n: n / 5)


def outcomes(members, prevalence):
    """What the member that Algorithm 1 chooses leads to: explorer.js in Python."""
    rho = np.asarray(prevalence, dtype=float)
    by_member = rho[..., None] * members.tpr + (1 - rho[..., None]) * members.fpr
    chosen = nearest_member(by_member, members.thetas, rho)
    tpr, fpr = members.tpr[chosen], members.fpr[chosen]
    predicted = rho * tpr + (1 - rho) * fpr
    return {
        "theta": members.thetas[chosen],
        "predicted": predicted,
        "fpr": fpr,
        "fnr": 1 - tpr,
        "accuracy": rho * tpr + (1 - rho) * (1 - fpr),
        "pd": np.abs(rho - predicted),
    }


@st.composite
def pools(draw):
    n = draw(st.integers(1, 6))
    thetas = sorted(draw(st.lists(hundredths, min_size=n, max_size=n, unique=True)))
    tpr, fpr = (draw(st.lists(rate, min_size=n, max_size=n)) for _ in range(2))
    return Members(np.array(thetas) / 100, np.array(tpr) / 10, np.array(fpr) / 10)


@given(pools(), hundredths, st.permutations(range(6)))
def test_it_is_the_plain_loop(pool, percent, order):
    rho = percent / 100
    found = outcomes(pool, rho)
    best = None
    for theta, tpr, fpr in zip(*pool, strict=True):
        distance = round(abs(rho * tpr + (1 - rho) * fpr - rho), 12)
        key = (distance, round(abs(theta - rho), 12), theta)
        if best is None or key < best:
            best = key
    assert found["theta"] == best[2]
    assert found["pd"] == pytest.approx(best[0], abs=1e-9)
    # The order of the members does not matter.
    order = [place for place in order if place < len(pool.thetas)]
    turned = Members(*(values[order] for values in pool))
    assert outcomes(turned, rho) == found


@given(pools(), hundredths)
def test_rates_are_those_of_people_counted_one_by_one(pool, percent):
    found = outcomes(pool, percent / 100)
    n = percent * 10
    right = round((1 - float(found["fnr"])) * n)
    wrong = round(float(found["fpr"]) * (1000 - n))
    y = (np.arange(1000) < n).astype(int)
    called = np.concatenate([np.arange(n) < right, np.arange(1000 - n) < wrong])
    (counted,) = confusion_by_group(
        y, called.astype(int), sensitive_features=["a"] * 1000, pos_label=1
    ).values()
    ours = [found[name] for name in ("predicted", "accuracy", "pd")]
    theirs = [counted.predicted_prevalence, counted.accuracy]
    # Up to whole people.
    assert ours == pytest.approx([*theirs, counted.prevalence_difference], abs=0.0011)


def test_many_prevalences_at_once_are_each_alone():
    pool = Members(np.linspace(0, 1, 7), np.linspace(0, 1, 7), np.linspace(0, 0.6, 7))
    grid = np.linspace(0, 1, 11)
    together = outcomes(pool, grid)
    for place, rho in enumerate(grid):
        for name, value in outcomes(pool, rho).items():
            assert together[name][place] == value


@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=2, max_size=4)
)
def test_worst_pe_is_that_of_people_counted_one_by_one(groups):
    y = np.concatenate([np.arange(20) < positives for positives, _ in groups])
    called = np.concatenate([np.arange(20) < n for _, n in groups])
    sensitive = np.repeat(range(len(groups)), 20)
    expected = proportional_equality(
        y.astype(int), called.astype(int), sensitive_features=sensitive, pos_label=1
    )
    rho, predicted = np.array(groups).T / 20
    assert worst_pe(rho, predicted) == pytest.approx(expected)


def test_worst_pe_passes_over_groups_without_positives():
    assert worst_pe([0.0, 0.4], [0.1, 0.5]) == pytest.approx(abs(0 - 0.1 / 0.5))
    assert np.isnan(worst_pe([0.0, 0.0], [0.1, 0.5]))
    assert np.isnan(worst_pe([0.2, 0.4], [0.0, 0.0]))


def run_script(pool, other, rhos):
    """Run the closed form of the page, without what needs a page."""
    text = (files("cape.report") / "page" / "explorer.js").read_text(encoding="utf-8")
    rounding = re.search(r"const round = .*;", text)[0]
    rule = text[text.index("  // THE RULE") : text.index("  // Text goes in as text")]
    work = f"""{rounding}{rule}
    const [a, b] = {json.dumps([pool.to_dict(), other.to_dict()])};
    const answers = {json.dumps(rhos)}.map((rho) => {{
      const first = outcome(a, rho);
      const second = outcome(b, 1 - rho);
      const pe = worstPe([rho, 1 - rho], [first.predicted, second.predicted]);
      return [first, second, pe];
    }});
    console.log(JSON.stringify(answers));"""
    command = ["node", "-e", work]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("node") is None,
    reason="node is not installed; tests/browser runs the script too",
)
@settings(max_examples=12)
@given(pools(), pools())
def test_the_pages_script_computes_the_same_at_every_place_of_the_slider(pool, other):
    rhos = [place / 100 for place in range(101)]
    answers = run_script(pool, other, rhos)
    for rho, (first, second, pe) in zip(rhos, answers, strict=True):
        ours = outcomes(pool, rho), outcomes(other, 1 - rho)
        for theirs, found in zip((first, second), ours, strict=True):
            expected = {name: float(value) for name, value in found.items()}
            assert theirs == pytest.approx(expected, abs=1e-12)
        expected = worst_pe([rho, 1 - rho], [found["predicted"] for found in ours])
        page_pe = np.nan if pe is None else pe["pe"]
        assert page_pe == pytest.approx(expected, nan_ok=True)


def test_members_are_thinned_without_loss_that_matters(people_model):
    grid = np.linspace(0, 1, 51)
    for model in people_model.clf.models_.values():
        pool = members_of(model)
        assert len(pool.thetas) <= 200 < len(model.pool.thetas)
        full = Members(model.pool.thetas, model.pool.rates.tpr, model.pool.rates.fpr)
        assert (outcomes(pool, grid)["pd"] <= outcomes(full, grid)["pd"] + 0.01).all()
        # CAPE is never farther from the share than the model as trained.
        plain = outcomes(unadapted(model), grid)
        assert (outcomes(pool, grid)["pd"] <= plain["pd"] + 0.01).all()


def test_unknown_rates_are_left_out(train):
    few = CapeClassifier(
        LogisticRegression(), pool="resampled", prevalences=4, cv=2, random_state=0
    )
    few.fit(train.X[:60], train.y[:60])
    (group,) = explorer_data(few)["groups"]
    json.dumps(group, allow_nan=False)
    rates = few.models_["everyone"].pool.rates
    assert len(group["cape"]["theta"]) == (~np.isnan(rates.tpr + rates.fpr)).sum()


def test_the_page_carries_the_rates_of_the_members_and_starts_at_training(
    people_model, pages, data_in
):
    sent = data_in(pages["explorer"], "explorer-data")
    assert sent == explorer_data(people_model.clf)
    assert len(pages["explorer"]) < 60_000
    for group in sent["groups"]:
        model = people_model.clf.models_[group["name"]]
        assert group["training"] == group["now"] == round(model.prevalence, 6)
        members = model.pool.thetas, model.pool.rates.tpr, model.pool.rates.fpr
        known = set(zip(*(np.round(values, 6) for values in members), strict=True))
        assert set(zip(*group["cape"].values(), strict=True)) <= known
        plain = [group["unadapted"]["tpr"][0], group["unadapted"]["fpr"][0]]
        rates = model.unadapted_rates(model.training_cut)
        assert plain == pytest.approx(rates, abs=1e-6)
