"""The page of a watch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cape.report._model import stamped

if TYPE_CHECKING:
    from cape._watch import Watch
    from cape._wording._page import Summary


def watch_summary(watch: Watch, *, provenance: Mapping[str, Any]) -> Summary:
    """Summarise a watch: its last look, and the history.

    Parameters
    ----------
    watch : Watch
    provenance : mapping
        The model, from `file_provenance`.

    Returns
    -------
    dict
    """
    history = watch.history().to_dict("records")
    return {
        "kind": "watch",
        **watch.to_dict(),
        "history": history,
        "made": stamped(provenance),
    }
