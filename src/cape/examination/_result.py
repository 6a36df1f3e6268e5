"""Table and JSON-ready dict, once for all results of an examination.

A result holds one small dataclass for each group. `GroupResult` turns that mapping into
a data frame with one row for each group, and into a dict that JSON can hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cape._estimate import Estimate
from cape._groups import Group, group_labels, unique_names
from cape._notebook import Shown

if TYPE_CHECKING:
    import pandas as pd


class GroupResult:
    """Base of the results that hold one dataclass for each group.

    A subclass is a dataclass with a field ``groups``, a mapping from group to
    dataclass, and a field ``group_columns``, the columns whose values groups combine.
    It overrides `_facts` if it knows more than what it says about each group.
    """

    groups: Mapping[Group, Any]
    group_columns: Sequence[str] | None

    @property
    def names(self) -> dict[Group, str]:
        """The name of each group; no two are alike."""
        return unique_names(self.groups, self.group_columns)

    def table(self) -> pd.DataFrame:
        """Return the result as a data frame.

        Returns
        -------
        DataFrame
            One row for each group, one column for each field of its dataclass, and
            three for an estimate: its value, ``_low`` and ``_high``.
        """
        import pandas as pd

        rows = [flat(result) for result in self.groups.values()]
        return pd.DataFrame(rows, index=group_index(self.groups))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a dict that JSON can hold.

        Returns
        -------
        dict
            ``groups`` is a list with one entry for each group. A number that is not
            finite is None.
        """
        # A list and no mapping: in JSON the keys of a mapping would have to be text.
        entries = []
        names = self.names
        for group, result in self.groups.items():
            entries.append({"group": names[group], **json_ready(flat(result))})
        return {**self._facts(), "groups": entries}

    def _facts(self) -> dict[str, Any]:
        """Return what the result knows about all groups together."""
        return {}


def group_index(groups: Iterable[Group]) -> pd.Index:
    """Return the row labels of a table with one row for each group."""
    import pandas as pd

    labels = group_labels(groups)
    return pd.Index(list(labels.values()), name="group")


def shown(
    names: Mapping[Group, str], title: str, rows: list[dict[str, Any]], notes: list[str]
) -> Shown:
    """Return what a notebook shows of a result with one row for each group."""
    import pandas as pd

    index = pd.Index(list(names.values()), name="group")
    return Shown(title, pd.DataFrame(rows, index=index), notes)


def flat(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass; an `Estimate` becomes three of them."""
    fields: dict[str, Any] = {}
    for name, value in vars(record).items():
        if isinstance(value, Estimate):
            fields[name], fields[f"{name}_low"], fields[f"{name}_high"] = value
        else:
            fields[name] = value
    return fields


def json_ready(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Replace the numbers that JSON cannot hold (NaN, infinity) by None.

    Examples
    --------
    >>> json_ready({"pe": float("nan"), "rows": 3})
    {'pe': None, 'rows': 3}
    """
    # `json.dumps` writes NaN and Infinity, which no other JSON reader accepts.
    ready: dict[str, Any] = {}
    for name, value in values.items():
        finite = not isinstance(value, float) or math.isfinite(value)
        ready[name] = value if finite else None
    return ready
