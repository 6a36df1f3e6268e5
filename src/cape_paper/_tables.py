"""Tables and the first sentence of a page, from the numbers of a run.

Below the means of a method stand the standard deviations over seeds ("± sd") and the
numbers that the paper prints ("print").
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from cape_paper._cells import Results

Tables = dict[str, pd.DataFrame]
"""Tables of text by their titles."""

_FIGURE = ["accuracy_1", "pd_1", "pe_01"]
_VERDICTS = ("consistent", "some_drift", "drifted", "uncertain", "not_tested")
_WITH_LABELS = ("CAPE, labels", "labels alone")
_KINDS = {
    "pure": "Pure prior shift",
    "real": "Real shifts",
    "alike": "Prior shift, groups move alike",
    "apart": "Prior shift, each group moves its own way",
}


def results_tables(results: Results) -> Tables:
    """Make the tables of a run.

    Parameters
    ----------
    results : dict
        From any run.

    Returns
    -------
    dict from str to DataFrame
        By their titles; all cells are text. A run of which all cells failed has none.
    """
    makers = {
        "synthetic": _synthetic_tables,
        "shifts": _shift_tables,
        "quantifiers": _kind_tables,
        "small-groups": _kind_tables,
        "logged": _logged_tables,
    }
    if not results.get("records") and not results.get("rows"):
        return {}
    return makers.get(results["experiment"], _comparison_tables)(results)


def headline(results: Results) -> str:
    """Say in one sentence what a run found.

    Parameters
    ----------
    results : dict
        From any run.

    Returns
    -------
    str
        The first sentence of its page; empty if nothing finished.
    """
    if results.get("rows"):
        return _paper_headline(results)
    if not results.get("records"):
        return ""
    records = pd.DataFrame(results["records"])
    records = records[~records["method"].isin(_WITH_LABELS)]
    key = {"shifts": "size", "logged": "learner"}.get(results["experiment"], "kind")
    means = over_cases(records, [key, "method"], "error")["mean"]
    parts = []
    for value in means.index.unique(key):
        least = _listed(means[value].nsmallest(8))
        parts.append(f"{_KINDS.get(value, f'{key} {value}').lower()}: {least}")
    if "holds" in records:
        held = over_cases(records, ["method"], "holds")["mean"]
        parts.append(f"95 % intervals hold: {_listed(held)}")
    return f"The least mean errors. {'; '.join(parts)}."


def over_cases(records: Any, keys: list[str], column: str) -> pd.DataFrame:
    """Average a column over cases, each of which counts alike.

    Parameters
    ----------
    records : sequence of dict or DataFrame
        Means, with ``case``, or ``seed``, and ``times``, how many each is the mean of.
    keys : list of str
        What to average by.
    column : str
        What to average; records without it are left out.

    Returns
    -------
    DataFrame
        ``mean``, ``sem`` (its standard error) and ``batches``, by the keys.

    Examples
    --------
    >>> records = [
    ...     {"case": "a", "method": "m", "error": 0.1, "times": 2},
    ...     {"case": "b", "method": "m", "error": 0.3, "times": 1},
    ... ]
    >>> means = over_cases(records, ["method"], "error")
    >>> means.loc["m", "mean"].round(3), means.loc["m", "batches"]
    (np.float64(0.2), np.int64(3))
    """
    frame = pd.DataFrame(records).dropna(subset=column)
    unit = "case" if "case" in frame else "seed"
    frame["total"] = frame[column] * frame["times"]
    sums = frame.groupby([*keys, unit], sort=False)[["total", "times"]].sum()
    sums["mean"] = sums["total"] / sums["times"]
    groups = sums.groupby(level=keys, sort=False)
    return groups.agg(
        mean=("mean", "mean"), sem=("mean", "sem"), batches=("times", "sum")
    )


def number(value: Any, digits: int = 3) -> str:
    """Format a number.

    Parameters
    ----------
    value : float, int, str or None
        None is shown as "undef", NaN as nothing; text and whole numbers stay.
    digits : int, default=3
        Digits behind the point.

    Returns
    -------
    str

    Examples
    --------
    >>> number(0.0456), number(None), number(12)
    ('0.046', 'undef', '12')
    """
    if value is None:
        return "undef"
    if isinstance(value, (str, int)):
        return str(value)
    return "" if value != value else f"{value:.{digits}f}"


def _readable(frame: pd.DataFrame) -> pd.DataFrame:
    """Make a table of text; names of columns are words."""
    frame = frame.rename(columns=lambda name: str(name).replace("_", " "))
    return frame.rename_axis(columns=None).map(number)


def _with_spread(means: pd.DataFrame, spread: str = "sem") -> pd.Series:
    """Format means with a spread, which one case or seed does not have."""
    # Spreads over seeds are of the order 10^-3: they need a fourth digit.
    digits = 4 if spread == "std" else 3
    text = " ± " + means[spread].map(lambda value: number(value, digits))
    return means["mean"].map(number) + text.where(means[spread].notna(), "")


def _method_lines(rows: pd.DataFrame, printed: Any) -> list[Results]:
    """Make the lines of each method: means over seeds, their spread, and print."""
    lines = []
    for method, of_method in rows.groupby("method", sort=False):
        values = of_method.select_dtypes("number").drop(columns="seed")
        # A value that is undefined with one seed is undefined.
        means = values.mean(skipna=False)
        known = means.astype(object).where(means.notna(), None)
        lines.append({"method": method, **known})
        if len(values) > 1:
            spreads = values.std(skipna=False).map(lambda value: number(value, 4))
            lines.append({"method": f"± sd of {len(values)}", **spreads})
        if method in printed:
            lines.append({"method": "print", **printed[method]})
    return lines


def _frame_of_rows(results: Results) -> pd.DataFrame:
    """Make a table of the rows of methods; a column of undefined values has numbers."""
    frame = pd.DataFrame(results["rows"])
    undefined = frame.columns[frame.isna().all()]
    return frame.astype(dict.fromkeys(undefined, float))


def _comparison_tables(results: Results) -> Tables:
    """Make the quantifier table and the results table of a comparison.

    The first table shows prevalences and their estimates. The paper's results table is
    wide, so it comes as two, and a last one has the criteria of parity.
    """
    rows = _frame_of_rows(results)
    frame = pd.DataFrame(_method_lines(rows, results["printed"]), dtype=object)
    columns = {
        "Error rates and accuracy": "fpr|fnr|accuracy",
        "Predicted prevalence, PD and PE": "predicted|pd|pe",
        "Parity between groups": "demographic|equalized|precision",
    }
    title = "Prevalences, and what quantifiers estimate from unlabelled test rows"
    tables = {title: _prevalence_table(results)}
    for title, names in columns.items():
        tables[title] = _readable(frame.filter(regex=f"^(method$|{names})"))
    learners = rows.groupby("method", sort=False)["learner"]
    chosen = learners.agg(lambda names: " or ".join(names.unique()))
    tables["Learners of the methods"] = chosen.reset_index()
    return tables


def _prevalence_table(results: Results) -> pd.DataFrame:
    """Show rows, prevalences and the estimates of all quantifiers by group."""
    counts = pd.DataFrame(results["data"], dtype=object).set_index("group")
    parts = [_readable(counts).T]
    if results["quantifiers"]:
        keys = ["quantifier", "group"]
        estimates = pd.DataFrame(results["quantifiers"]).groupby(keys, sort=False)
        means = estimates["estimate"].agg(["mean", "std"])
        parts.append(_with_spread(means, "std").unstack("group", sort=False))
    table = pd.concat(parts)
    if results["printed_estimates"]:
        # The paper's table has SPA alone.
        table.loc["spa, print"] = list(map(number, results["printed_estimates"]))
    return table.rename_axis(index="", columns=None).reset_index()


def _synthetic_tables(results: Results) -> Tables:
    """Make the tables of the synthetic experiment.

    They are the paper's Table 1 with printed numbers, the points of its figure, in
    which group 0 stays at 0.5, and the parts of Theorem 3's bound. Theorem 3 needs the
    true prevalence; our bound holds at the level of the interval, if nothing but the
    prevalence has moved.
    """
    rows = _frame_of_rows(results)
    lines = []
    for setting in results["printed"]:
        rho_0, rho_1 = setting["rho_0"], setting["rho_1"]
        at_pair = rows[(rows["rho_0"] == rho_0) & (rows["rho_1"] == rho_1)]
        printed = {}
        for ours, name in {"CAPE-D": "CAPE", "Max_Acc": "Max_Acc"}.items():
            printed[ours] = {"pe_01": setting["pe_01"][name]}
            # In print a metric is a pair of numbers, one for each group.
            for metric in ("accuracy", "pd"):
                for z, value in enumerate(setting[metric][name]):
                    printed[ours][f"{metric}_{z}"] = value
        for line in _method_lines(at_pair, printed):
            lines.append({**line, "rho": f"{rho_0} {rho_1}"})
    columns = ["rho", "method", "accuracy_0", "accuracy_1", "pd_0", "pd_1", "pe_01"]
    figure = {}
    points = rows[rows["rho_0"] == 0.5].groupby(["rho_1", "method"], sort=False)
    for column in _FIGURE:
        figure[column] = _with_spread(points[column].agg(["mean", "std"]), "std")
    theorem = pd.DataFrame(results["theorem"]).drop(columns="seed")
    theorem = theorem[theorem["rho_0"] == 0.5].groupby("rho_1").mean()
    return {
        "Table 1: both groups have moved from 0.5": _readable(
            pd.DataFrame(lines, columns=columns, dtype=object)
        ),
        "The figure's points: rho 0 is 0.5 (mean ± sd)": _readable(
            pd.DataFrame(figure).reset_index()
        ),
        "Theorem 3 at work in group 1, CAPE-D (means; rho 0 is 0.5)": _readable(
            theorem.drop(columns="rho_0").reset_index()
        ),
    }


def _paper_headline(results: Results) -> str:
    """Name the mean PD of the main methods."""
    rows = _frame_of_rows(results)
    means = rows.set_index("method").filter(regex="^pd_").mean(axis=1)
    means = means.groupby(level="method").mean()
    main = ["CAPE-D", "CAPE-1", "CAPE default", "Max_Acc"]
    shown = _listed(means.reindex(main).dropna())
    return f"{results['title']}: mean PD of {shown}." if shown else ""


def _listed(values: pd.Series) -> str:
    """List names and numbers."""
    return ", ".join(f"{name} {value:.3f}" for name, value in values.items())


def _by_size(records: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Show mean errors, how often intervals hold, and their width, by size of batch."""
    columns = []
    for column in ("error", "holds", "width"):
        if column in records:
            means = _with_spread(over_cases(records, [*keys, "size"], column))
            columns.append(means.unstack("size", sort=False).add_prefix(f"{column}, "))
    return _readable(pd.concat(columns, axis=1).reset_index())


def _shift_tables(results: Results) -> Tables:
    """Make the tables of a run on real shifts."""
    records = pd.DataFrame(results["records"])
    # In the order of tables.
    orders = {"verdict": _VERDICTS, "size": ("30", "100", "300", "all")}
    for key, order in orders.items():
        places = records[key].map(order.index)
        records = records.loc[places.sort_values(kind="stable").index]
    records["verdict"] = records["verdict"].str.replace("_", " ")
    unlabelled = records[~records["method"].isin(_WITH_LABELS)]
    of_cape = unlabelled[unlabelled["method"] == "CAPE"]
    means = over_cases(unlabelled, ["size", "verdict", "method"], "error")
    errors = _with_spread(means).unstack("method", sort=False)
    batches = means.xs("CAPE", level="method")["batches"]
    errors.insert(0, "batches", batches.astype(str))
    at_all = records[records["size"] == "all"]
    with_labels = at_all[at_all["method"].isin(["CAPE", *_WITH_LABELS])]
    return {
        "Errors and 95 % intervals, by rows of each group": _by_size(
            unlabelled, ["method"]
        ),
        "Errors by rows of each group and CAPE's verdict": _readable(
            errors.reset_index()
        ),
        "CAPE's errors and intervals, by its verdict": _by_size(of_cape, ["verdict"]),
        "All later rows, and 100 labels of each group": _by_size(
            with_labels, ["method"]
        ),
        **_case_tables(results, unlabelled[unlabelled["size"] == "all"]),
    }


def _case_tables(results: Results, records: pd.DataFrame) -> Tables:
    """Show each case and group, with all later rows as the batch."""
    place = ["case", "group"]
    shares = pd.DataFrame(results["shifts"]).set_index(place)
    truth = shares["prevalence_test"].rename("truth")
    ours = records[records["method"] == "CAPE"].groupby(place)
    said = ours[["estimate", "low", "high", "holds"]].mean()
    said = said.join(ours["verdict"].first())
    estimates = records.pivot_table("estimate", place, "method", sort=False)
    decisions = pd.DataFrame(results["decisions"])
    decided = decisions.pivot_table(["pd", "pe"], place, "method", dropna=False)
    decided.columns = [" ".join(names) for names in decided.columns]
    tables = {
        "Share of positives in all later rows, and what CAPE says": said,
        "Share of positives in all later rows: all estimates": estimates,
        "Prevalence difference and proportional equality, all later rows": decided,
    }
    # In the order of the list of cases.
    for title, table in tables.items():
        tables[title] = _readable(truth.to_frame().join(table).reset_index())
    return tables


def _kind_tables(results: Results) -> Tables:
    """Make the tables of quantifiers or small groups, for each kind of shift."""
    records = pd.DataFrame(results["records"])
    keys = ["method"]
    if "rows" in records:
        records = records.rename(columns={"rows": "training rows"})
        records = records.sort_values("training rows", kind="stable")
        keys = ["training rows", "method"]
    tables = {}
    for kind, name in _KINDS.items():
        of_kind = records[records["kind"] == kind]
        if of_kind.empty:
            continue
        title = f"{name}: errors and 95 % intervals, by rows of each group"
        tables[title] = _by_size(of_kind, keys)
    return tables


def _logged_tables(results: Results) -> Tables:
    """Make the tables of a run on logged decisions: over cases, and of each."""
    frame = pd.DataFrame(results["records"])
    both = frame.assign(learner="both")
    records = pd.concat([both.assign(rate="all three"), both, frame])
    columns = {}
    for column in ("error", "holds", "width"):
        means = over_cases(records, ["learner", "rate", "method"], column)
        columns[column] = _with_spread(means)
    over_all = pd.concat(columns, axis=1).reset_index()
    by_case = frame.pivot_table("error", "case", ["rate", "method"], sort=False)
    by_case.columns = [" ".join(names) for names in by_case.columns]
    return {
        "Errors and intervals over all cases": _readable(over_all),
        "Mean errors of each case": _readable(by_case.reset_index()),
    }
