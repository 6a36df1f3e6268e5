"""Fields of JSON are checked as they are read, and errors say where they stand."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.base._json_fields import Fields, read_format

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("read", "is_good", "wanted"),
    [
        (
            Fields.whole,
            lambda value: type(value) is int and 0 <= value < 2**63,
            "a whole number of at least 0, got",
        ),
        (
            lambda fields, name: fields.number(name, 0, 1),
            lambda value: type(value) in (int, float) and 0 <= value <= 1,
            "a number from 0 to 1",
        ),
        (Fields.text, lambda value: isinstance(value, str), "a text, got"),
    ],
    ids=["whole", "number", "text"],
)
@settings(max_examples=25)
@given(value=anything)
def test_a_field_is_what_it_must_be_or_is_refused(read, is_good, wanted, value):
    fields = Fields({"field": value})
    if is_good(value):
        assert read(fields, "field") == value
    else:
        with pytest.raises(ValueError, match=f"^field must be {wanted}"):
            read(fields, "field")


@given(anything)
def test_lists_of_whole_numbers_hold_nothing_else(value):
    fields = Fields({"counts": value})
    is_good = isinstance(value, list)
    is_good = is_good and all(type(v) is int and 0 <= v < 2**63 for v in value)
    if is_good:
        found = fields.whole_numbers("counts")
        assert found.dtype == np.int64
        assert found.tolist() == value
    else:
        with pytest.raises(ValueError, match="^counts must be a list of whole numbers"):
            fields.whole_numbers("counts")


@given(anything)
def test_what_is_no_object_is_refused_with_its_place(value):
    if isinstance(value, dict):
        assert list(Fields(value)) == list(value)
        return
    with pytest.raises(ValueError, match="^JSON must be an object with fields"):
        Fields(value)
    with pytest.raises(ValueError, match=r"^a\.b must be an object with fields"):
        Fields({"b": value}, "a").fields("b")


def test_lengths_and_least_numbers():
    fields = Fields({"counts": [1, 2], "rows": 0})
    assert fields.whole_numbers("counts", length=2, least=1).tolist() == [1, 2]
    with pytest.raises(ValueError, match="counts must be a list of 3 whole numbers"):
        fields.whole_numbers("counts", length=3)
    with pytest.raises(ValueError, match="of at least 2, got 1"):
        fields.whole_numbers("counts", least=2)
    with pytest.raises(ValueError, match="rows must be a whole number of at least 1"):
        fields.whole("rows", least=1)


def test_a_field_that_is_not_there():
    fields = Fields({})
    assert fields.optional("rows") is None
    for read in (fields.value, fields.whole, fields.text, fields.fields):
        with pytest.raises(ValueError, match="^rows must be given, but is missing"):
            read("rows")


def test_accepted_texts_and_unknown_numbers():
    fields = Fields({"drift": "some", "level": None})
    with pytest.raises(ValueError, match="drift must be one of 'a', 'b', got 'some'"):
        fields.text("drift", ("a", "b"))
    assert np.isnan(fields.number("level", may_be_unknown=True))
    with pytest.raises(ValueError, match="level must be a number"):
        fields.number("level")


def test_errors_stay_short():
    with pytest.raises(ValueError) as error:
        Fields({"rows": "x" * 10_000}).whole("rows")
    assert len(str(error.value)) < 150


@pytest.mark.parametrize("text", ["", "{", "[]", "null", None, b"\xff", "[" * 100_000])
def test_what_is_no_json_of_the_writer_is_refused(text):
    with pytest.raises(ValueError, match="^text must be JSON that Thing.to_json wrote"):
        read_format(text, "Thing.to_json", 1)


@pytest.mark.parametrize("number", [None, 0, 2, "1", [1], True])
def test_another_format_is_refused(number):
    text = json.dumps({"format": number})
    with pytest.raises(
        ValueError, match="format 1 of Thing.to_json, got format .* another version"
    ):
        read_format(text, "Thing.to_json", 1)
