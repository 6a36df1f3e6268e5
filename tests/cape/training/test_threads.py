"""Threads that share work, pieces of a batch, and the one limit on BLAS."""

import threading

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from cape.training import _threads


def blas_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    return {
        found["filepath"]: found["num_threads"]
        for found in threadpool_info()
        if found["user_api"] == "blas"
    }


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_order(threads):
    assert list(_threads.in_threads(lambda i: i * i, range(20), threads)) == [
        i * i for i in range(20)
    ]


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_comes_through(threads):
    with pytest.raises(ZeroDivisionError):
        list(_threads.in_threads(lambda i: 1 // i, [1, 0, 2], threads))


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_have_the_callers_configuration_of_scikit_learn(threads):
    with sklearn.config_context(transform_output="pandas"):
        found = list(
            _threads.in_threads(
                lambda i: sklearn.get_config()["transform_output"], range(3), threads
            )
        )
    assert found == ["pandas"] * 3


def test_after_an_error_nothing_new_is_begun():
    begun = []

    def work(i):
        begun.append(i)
        return 1 // i

    with pytest.raises(ZeroDivisionError):
        list(_threads.in_threads(work, range(100), 2))
    assert len(begun) <= 3


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_items_are_taken_as_they_are_needed(threads):
    taken, results = [], 0
    for _ in _threads.in_threads(
        lambda i: i, (taken.append(i) or i for i in range(50)), threads
    ):
        results += 1
        assert len(taken) <= results + threads
    assert results == 50


def test_the_limit_is_lifted_when_the_last_one_leaves():
    before = blas_threads()
    with _threads.blas_in_one_thread():
        assert set(blas_threads().values()) == {1}
        with _threads.blas_in_one_thread():
            pass
        assert set(blas_threads().values()) == {1}
    assert blas_threads() == before


def test_threads_that_overlap_leave_the_limit_as_they_found_it():
    before = blas_threads()
    inside, go = threading.Event(), threading.Event()

    def first():
        with _threads.blas_in_one_thread():
            inside.set()
            go.wait()

    def second():
        inside.wait()
        with _threads.blas_in_one_thread():
            go.set()
            worker.join()  # the first leaves before the second
            assert set(blas_threads().values()) == {1}

    worker = threading.Thread(target=first)
    worker.start()
    second()
    assert blas_threads() == before


LIMITS = {"_MOST_ROWS": 30, "_MOST_ROWS_LINEAR": 20, "_FEWEST_ROWS": 7}


def mapped(work, n_rows, threads, n_groups=1, linear=True):
    """Map pieces that are so small that a few rows need several."""
    with pytest.MonkeyPatch.context() as patch:
        for limit, rows in LIMITS.items():
            patch.setattr(_threads, limit, rows)
        patch.setattr(_threads, "available_threads", lambda: threads)
        settings = {"n_groups": n_groups, "linear": linear}
        return list(_threads.map_pieces(work, n_rows, **settings))


@given(
    n_rows=st.integers(0, 500),
    n_groups=st.integers(1, 9),
    linear=st.booleans(),
    threads=st.integers(1, 8),
)
def test_pieces_hold_every_row_once_and_in_order(n_rows, n_groups, linear, threads):
    pieces = mapped(lambda piece: piece, n_rows, threads, n_groups, linear)
    rows = [row for piece in pieces for row in range(piece.start, piece.stop)]
    assert rows == list(range(n_rows))
    largest = n_groups * (20 if linear else 30)
    assert all(piece.stop - piece.start <= largest for piece in pieces)


def test_linear_work_is_done_by_several_threads_with_blas_in_one():
    both_inside = threading.Barrier(2, timeout=30)

    def work(piece):
        both_inside.wait()
        blas = [info for info in threadpool_info() if info["user_api"] == "blas"]
        return {info["num_threads"] for info in blas}

    for blas_threads in mapped(work, 40, threads=2):
        assert blas_threads <= {1}
