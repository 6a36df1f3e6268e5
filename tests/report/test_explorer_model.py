"""The explorer, compared with counted people, with the script and with the model."""

import json
import re
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.metrics import confusion_by_group, proportional_equality
from cape.metrics._between import worst_pe
from cape.report import to_html
from cape.report._explorer import Members, explorer_data, members_of, outcomes

hundredths = st.integers(0, 100)
rate = st.integers(0, 10) | st.integers(0, 50).map(
    lambda n: n / 5
)  # tenths: members often tie


@st.composite
def pools(draw):
    n = draw(st.integers(1, 6))
    thetas = sorted(draw(st.lists(hundredths, min_size=n, max_size=n, unique=True)))
    tpr, fpr = (draw(st.lists(rate, min_size=n, max_size=n)) for _ in range(2))
    return Members(np.array(thetas) / 100, np.array(tpr) / 10, np.array(fpr) / 10)


def people(tpr, fpr, positives):
    """A thousand people with this percentage of positives, called at given rates."""
    n = positives * 10
    y = np.arange(1000) < n
    right, wrong = round(tpr * n), round(fpr * (1000 - n))
    called = np.concatenate([np.arange(n) < right, np.arange(1000 - n) < wrong])
    return y.astype(int), called.astype(int)


@given(pools(), hundredths)
def test_rates_are_those_of_people_counted_one_by_one(pool, percent):
    found = outcomes(pool, percent / 100)
    y, called = people(1 - found["fnr"], found["fpr"], percent)
    (counted,) = confusion_by_group(
        y, called, sensitive_features=["a"] * 1000, pos_label=1
    ).values()
    for ours, theirs in (
        (found["predicted"], counted.predicted_prevalence),
        (found["accuracy"], counted.accuracy),
        (found["pd"], counted.prevalence_difference),
    ):
        assert ours == pytest.approx(theirs, abs=0.0011)  # whole people


@given(pools(), hundredths)
def test_no_member_has_a_smaller_pd_than_the_one_shown(pool, percent):
    rho = percent / 100
    found = outcomes(pool, rho)
    predicted = rho * pool.tpr + (1 - rho) * pool.fpr
    assert found["pd"] <= np.abs(predicted - rho).min() + 1e-12
    assert found["theta"] in pool.thetas


@given(pools(), st.permutations(range(6)), hundredths)
def test_the_order_of_members_does_not_matter(pool, order, percent):
    order = [i for i in order if i < len(pool.thetas)]
    turned = Members(pool.thetas[order], pool.tpr[order], pool.fpr[order])
    assert outcomes(turned, percent / 100) == outcomes(pool, percent / 100)


@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=2, max_size=4)
)
def test_worst_pe_is_that_of_people_counted_one_by_one(groups):
    y = np.concatenate([np.arange(20) < positives for positives, _ in groups]).astype(
        int
    )
    called = np.concatenate([np.arange(20) < n for _, n in groups]).astype(int)
    expected = proportional_equality(
        y, called, sensitive_features=np.repeat(range(len(groups)), 20), pos_label=1
    )
    rho, predicted = np.array(groups).T / 20
    assert worst_pe(rho, predicted) == pytest.approx(expected)
    assert worst_pe(rho[::-1], predicted[::-1]) == pytest.approx(expected)


def test_worst_pe_passes_over_groups_without_positives():
    assert worst_pe([0.0, 0.4], [0.1, 0.5]) == pytest.approx(abs(0 - 0.1 / 0.5))
    assert np.isnan(worst_pe([0.0, 0.0], [0.1, 0.5]))
    assert np.isnan(worst_pe([0.2, 0.4], [0.0, 0.0]))


def script():
    """The closed form of the page, without what needs a page."""
    text = (files("cape.report") / "page" / "explorer.js").read_text(encoding="utf-8")
    rounding = re.search(r"const round = .*;", text)[0]
    return (
        rounding
        + text[text.index("  // THE RULE") : text.index("  // Text goes in as text")]
    )


def run_script(pool, other, rhos):
    lists = [
        {"theta": list(p.thetas), "tpr": list(p.tpr), "fpr": list(p.fpr)}
        for p in (pool, other)
    ]
    work = f"""{script()}
    const [a, b] = {json.dumps(lists)};
    const answers = {json.dumps(rhos)}.map((rho) => {{
      const first = outcome(a, rho);
      const second = outcome(b, 1 - rho);
      const pe = worstPe([rho, 1 - rho], [first.predicted, second.predicted]);
      return [first, second, pe];
    }});
    console.log(JSON.stringify(answers));"""
    return json.loads(
        subprocess.run(
            ["node", "-e", work], capture_output=True, text=True, check=True
        ).stdout
    )


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("node") is None,
    reason="node is not installed; tests/browser runs the script too",
)
@settings(max_examples=12)
@given(pools(), pools())
def test_the_pages_script_computes_the_same_at_every_place_of_the_slider(pool, other):
    rhos = [i / 100 for i in range(101)]
    for rho, (first, second, pe) in zip(
        rhos, run_script(pool, other, rhos), strict=True
    ):
        ours = outcomes(pool, rho), outcomes(other, 1 - rho)
        assert first == pytest.approx(
            {name: float(value) for name, value in ours[0].items()}, abs=1e-12
        )
        assert second == pytest.approx(
            {name: float(value) for name, value in ours[1].items()}, abs=1e-12
        )
        expected = worst_pe([rho, 1 - rho], [found["predicted"] for found in ours])
        page_pe = np.nan if pe is None else pe["pe"]
        assert page_pe == pytest.approx(expected, nan_ok=True)


def test_the_page_carries_the_rates_of_the_models_members_and_starts_at_training(
    people_model, explorer_of_model
):
    page = to_html(explorer_of_model(people_model))
    sent = json.loads(
        re.search(r'id="explorer-data">(.*?)</script>', page, re.DOTALL)[1]
    )
    assert sent == explorer_data(people_model.clf)
    for group in sent["groups"]:
        model = people_model.clf.models_[group["name"]]
        assert group["training"] == pytest.approx(model.prevalence, abs=1e-6)
        assert group["now"] == round(model.prevalence, 6)
        members = model.pool.thetas, model.pool.rates.tpr, model.pool.rates.fpr
        known = set(zip(*(np.round(values, 6) for values in members), strict=True))
        assert set(zip(*group["cape"].values(), strict=True)) <= known
        assert [
            group["unadapted"]["tpr"][0],
            group["unadapted"]["fpr"][0],
        ] == pytest.approx(model.unadapted_rates(), abs=1e-6)


@given(st.floats(0, 1))
def test_cape_is_never_farther_from_the_share_than_the_model_as_trained(
    people_model, rho
):
    for model in people_model.clf.models_.values():
        pool, plain = members_of(model)
        assert (
            outcomes(pool, rho)["pd"] <= outcomes(plain, rho)["pd"] + 0.01
        )  # members are thinned
