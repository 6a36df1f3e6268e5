"""Numbers, lists and names of groups as people read them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.base._numbers import (
    counted,
    group_name,
    joined,
    listed,
    p_value_text,
    printable,
    quoted,
    unique_names,
)

values = st.one_of(
    st.integers(-3, 3),
    st.text(max_size=2),
    st.booleans(),
    st.sampled_from([0.5, 1.0]),
)
# Letters of which many alike combinations are made.
tricky = st.text(alphabet="a, '\"\\\n·", max_size=6)
columns = st.sampled_from([None, ["a", "· a"]])


@given(st.integers(0, 10**12))
def test_one_is_singular_and_thousands_are_told_apart(n):
    text = counted(n, "batch", "batches")
    assert re.fullmatch(r"1 batch|\d{1,3}(,\d{3})* batches", text)
    assert int(text.split()[0].replace(",", "")) == n


@given(st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=20))
def test_up_to_six_names_are_all_said_and_of_more_the_rest_is_counted(names):
    text = joined(names, "things")
    said = re.split(", | and ", text)
    if len(names) <= 6:
        assert said == names
    else:
        assert said == [*names[:5], f"{len(names) - 5} more things"]
    assert text.count(" and ") == (len(names) > 1)


def test_the_first_names_of_a_list():
    assert listed("abc", 3) == "a, b, c"
    assert listed("abc", 1, "columns") == "a and 2 more columns"
    assert quoted(["a", 1], 2) == "'a', 1"


@given(st.floats(0, 1))
def test_p_values_have_three_digits_and_none_is_zero(p):
    text = p_value_text(p)
    if p < 0.001:
        assert text == "below 0.001"
    else:
        assert float(text) == pytest.approx(p, abs=5.01e-4) and float(text) > 0


def test_only_what_nobody_sees_is_escaped():
    assert printable("Größe 组 \xa0<b>") == "Größe 组 \xa0<b>"
    assert printable("a\x00b\ud800\n") == "a\\x00b\\ud800\\n"


def test_names_of_groups():
    assert group_name("a") == "a"
    assert group_name(3) == "3"
    assert group_name(("a", 1)) == "a, 1"
    assert group_name(("a, b", 1), ["Race", "Sex"]) == "Race a, b · Sex 1"
    assert group_name("White, not Hispanic") == "White, not Hispanic"


@given(st.text(), st.text())
def test_different_texts_have_different_printable_names(one, other):
    names = {group_name(one), group_name(other)}
    assert len(names) == len({one, other})
    assert all(name.isprintable() and name for name in names)


@given(st.tuples(tricky, tricky), st.tuples(tricky, tricky), columns)
def test_different_combinations_have_different_printable_names(one, other, columns):
    names = {group_name(one, columns), group_name(other, columns)}
    assert len(names) == len({one, other})
    assert all(name.isprintable() for name in names)


@pytest.mark.parametrize("text", ["a\x00b", "\x1b[31mred", " a", "a  b", "", "\u202e"])
def test_what_nobody_sees_is_written_out(text):
    assert group_name(text) == repr(text)


@given(st.lists(values | st.tuples(values, values), unique_by=repr), columns)
def test_no_two_groups_are_shown_by_the_same_name(groups, columns):
    groups = list(dict.fromkeys(groups))
    names = unique_names(groups, columns)
    assert list(names) == groups
    assert len(set(names.values())) == len(groups)


def test_a_name_is_that_of_the_group_unless_another_reads_alike():
    assert unique_names([1, "2", ("a", 3)]) == {1: "1", "2": "2", ("a", 3): "a, 3"}
    assert unique_names([1, "1"]) == {1: "1", "1": "'1'"}
    assert unique_names([("a", 1), ("a", "1")]) == {
        ("a", 1): "'a', 1",
        ("a", "1"): "'a', '1'",
    }


def test_groups_whose_repr_reads_alike_are_numbered():
    class Odd:
        def __repr__(self):
            return "odd\x00"

    names = list(unique_names([Odd(), Odd(), Odd()]).values())
    quoted = "'odd\\x00'"
    assert names == [quoted, f"{quoted} (2)", f"{quoted} (3)"]
