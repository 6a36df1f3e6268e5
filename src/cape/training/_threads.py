"""Work shared out over threads that do not get in each other's way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from threading import Lock
from typing import Any, TypeVar

from sklearn import config_context, get_config
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils.parallel import _get_threadpool_controller

available_threads = _openmp_effective_n_threads


def in_threads(
    work: Callable[[Any], Any], items: Iterable[Any], threads: int
) -> Iterator[Any]:
    """Do some work on each item, and yield the results in the order of the items.

    Items are taken only as they are needed.

    Examples
    --------
    >>> list(in_threads(abs, [-1, 2], threads=2))
    [1, 2]
    """
    if threads < 2:
        yield from map(work, items)
        return
    # scikit-learn's settings belong to a thread; new threads would have the defaults.
    config = get_config()

    def work_with_config(item: Any) -> Any:
        with config_context(**config):
            return work(item)

    executor = ThreadPoolExecutor(threads)
    try:
        under_way: deque[Any] = deque()
        for item in items:
            under_way.append(executor.submit(work_with_config, item))
            if len(under_way) > threads:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        # After an error nobody waits for work that has not begun.
        executor.shutdown(cancel_futures=True)


class _Limit:
    """Limit libraries to one thread while anybody wants that.

    The limit is one for the whole process: the first user sets it, the last lifts it.

    Parameters
    ----------
    user_api : {"blas", "openmp"} or None
        Which libraries; None means all of them.
    """

    def __init__(self, user_api: str | None) -> None:
        self.user_api = user_api
        self.lock = Lock()
        self.users = 0
        self.limiter: Any = None

    def enter(self) -> None:
        with self.lock:
            if self.users == 0:
                libraries = _get_threadpool_controller()
                if self.user_api is not None:
                    libraries = libraries.select(user_api=self.user_api)
                self.limiter = libraries.limit(limits=1)
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.limiter.restore_original_limits()


_BLAS_LIMIT = _Limit("blas")
_ALL_LIMIT = _Limit(None)

_LARGE_TRAINING = 100_000
"""Rows from which on several threads may train one model faster than one thread."""


@contextmanager
def blas_in_one_thread() -> Iterator[None]:
    """Keep matrix products inside the block in one thread.

    For products of short blocks, many times over, threads of BLAS cost more than they
    save.

    Examples
    --------
    >>> with blas_in_one_thread():
    ...     product = np.eye(2) @ np.eye(2)
    """
    _BLAS_LIMIT.enter()
    try:
        yield
    finally:
        _BLAS_LIMIT.leave()


@contextmanager
def one_thread_to_train(n_rows: int) -> Iterator[None]:
    """Train in one thread, unless there are many rows.

    Threads of OpenMP wait for each other by spinning. Beside two other busy processes,
    boosting on 10,000 rows takes 0.5 s in one thread and more than 38 s in two. Folds,
    groups and members are what runs side by side instead (``n_jobs``).

    Parameters
    ----------
    n_rows : int
        Rows to train on.

    Examples
    --------
    >>> with one_thread_to_train(1000):
    ...     model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    """
    if n_rows >= _LARGE_TRAINING:
        yield
        return
    _ALL_LIMIT.enter()
    try:
        yield
    finally:
        _ALL_LIMIT.leave()


T = TypeVar("T")

_MOST_ROWS_LINEAR = 125_000
_MOST_ROWS = 250_000
"""Rows of a group in one piece."""

_FEWEST_ROWS = 50_000
"""Rows of a piece: below, threads cost more than they save."""


def map_pieces(
    work: Callable[[slice], T], n_rows: int, *, n_groups: int, linear: bool
) -> Iterator[T]:
    """Do some work on consecutive pieces of a batch, and yield the results in order.

    Parameters
    ----------
    work : callable
        Takes the slice of rows to work on.
    n_rows : int
        Rows of the batch.
    n_groups : int
        Groups of the batch. A piece with more groups may hold more rows.
    linear : bool
        Whether the work is made of matrix products. Pieces are then worked on side by
        side, each in one thread; other learners start threads of their own.

    Yields
    ------
    The result of each piece.

    Examples
    --------
    >>> list(map_pieces(lambda rows: rows, 3, n_groups=2, linear=False))
    [slice(0, 3, None)]
    """
    threads = 1
    most_rows = _MOST_ROWS * n_groups
    if linear:
        threads = available_threads()
        most_rows = _MOST_ROWS_LINEAR * n_groups
    share_of_a_thread = -(-n_rows // threads)
    size = min(most_rows, max(share_of_a_thread, _FEWEST_ROWS))
    pieces = []
    for start in range(0, n_rows, max(size, 1)):
        pieces.append(slice(start, min(start + size, n_rows)))
    with blas_in_one_thread() if linear else nullcontext():
        yield from in_threads(work, pieces, min(threads, len(pieces)))
