"""First alerts of NannyML on scores, by the Python of an environment that has it.

    NML_DISABLE_USAGE_LOGGING=1 python watch_nannyml.py streams.parquet

The table has the columns watch, group, look (-1 is the reference) and score. Printed is
for each watch the first look with an alert in any group, by its defaults: the
Jensen-Shannon distance, with its threshold from the reference.
"""

from __future__ import annotations

import json
import sys
import warnings

import pandas as pd


def main(path: str) -> None:
    """Find the first alert of each watch, and print them."""
    warnings.simplefilter("ignore")
    from nannyml import UnivariateDriftCalculator

    firsts = []
    for _, stream in pd.read_parquet(path).groupby("watch"):
        looks = []
        for _, rows in stream.groupby("group"):
            new = rows[rows["look"] >= 0].reset_index(drop=True)
            known = rows[rows["look"] < 0].reset_index(drop=True)
            chunk = int((new["look"] == 0).sum())
            calculator = UnivariateDriftCalculator(
                column_names=["score"], chunk_size=chunk
            )
            calculator.fit(known)
            found = calculator.calculate(new).filter(period="analysis").to_df()
            alerts = found["score", "jensen_shannon", "alert"].to_numpy()
            looks += [int(alerts.argmax())] * bool(alerts.any())
        firsts.append(min(looks, default=None))
    sys.stdout.write(json.dumps(firsts) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
