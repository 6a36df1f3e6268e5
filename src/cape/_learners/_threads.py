"""Work shared out over threads that do not get in each other's way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any

from sklearn import config_context, get_config
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils.parallel import _get_threadpool_controller

__all__ = ["available_threads", "blas_in_one_thread", "in_order", "in_threads"]

available_threads = _openmp_effective_n_threads


def in_threads(
    work: Callable[[Any], Any], items: Iterable[Any], threads: int
) -> Iterator[Any]:
    """The results of some work on each item, in order; items are taken as they are needed.

    Examples
    --------
    >>> list(in_threads(abs, [-1, 2], threads=2))
    [1, 2]
    """
    if threads < 2:
        yield from map(work, items)
        return
    config = get_config()  # of this thread; others would have scikit-learn's defaults

    def work_alike(item: Any) -> Any:
        with config_context(**config):
            return work(item)

    executor = ThreadPoolExecutor(threads)
    try:
        yield from in_order(
            lambda item: executor.submit(work_alike, item), items, most=threads + 1
        )
    finally:
        executor.shutdown(
            cancel_futures=True
        )  # after an error nobody waits for what has not begun


def in_order(
    submit: Callable[[Any], Any], items: Iterable[Any], most: int
) -> Iterator[Any]:
    """The results of futures, in order; at most ``most`` are under way, so that many items need not fit into memory.

    Examples
    --------
    >>> with ThreadPoolExecutor(2) as executor:
    ...     list(in_order(lambda item: executor.submit(abs, item), [-1, 2, -3], most=2))
    [1, 2, 3]
    """
    under_way: deque[Any] = deque()
    for item in items:
        under_way.append(submit(item))
        if len(under_way) == most:
            yield under_way.popleft().result()
    while under_way:
        yield under_way.popleft().result()


class _Limit:
    """The limit is one for the whole process: the first who wants it sets it, the last who leaves lifts it."""

    def __init__(self) -> None:
        self.lock, self.users = Lock(), 0
        self.limiter: Any = None

    def enter(self) -> None:
        with self.lock:
            if self.users == 0:
                self.limiter = (
                    _get_threadpool_controller().select(user_api="blas").limit(limits=1)
                )
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.limiter.restore_original_limits()


_LIMIT = _Limit()


@contextmanager
def blas_in_one_thread() -> Iterator[None]:
    """Matrix products of short blocks, many times over: threads of BLAS would cost more than they save.

    Examples
    --------
    >>> with blas_in_one_thread():
    ...     pass
    """
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()
