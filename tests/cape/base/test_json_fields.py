"""JSON that is read again is sealed: nothing that was changed is read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.base._json_fields import seal, unseal

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
states = st.dictionaries(st.text(), values)


@given(states)
def test_what_was_sealed_comes_back(state):
    assert unseal(seal(state, 1), "Thing.to_json", 1) == state


@given(states, states)
def test_another_state_under_the_same_hash_is_refused(state, other):
    content = json.loads(seal(state, 1))
    if state == other:
        return
    content["state"] = other
    with pytest.raises(ValueError, match="^text must be as Thing.to_json wrote it"):
        unseal(json.dumps(content), "Thing.to_json", 1)


def test_the_state_of_another_model_is_refused():
    text = seal({"fingerprint": "a"}, 1)
    assert unseal(text, "Thing.to_json", 1, "a") == {"fingerprint": "a"}
    with pytest.raises(ValueError, match="^clf must be the model of Thing.to_json"):
        unseal(text, "Thing.to_json", 1, "b")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", None, b"\xff", "[" * 100_000])
def test_what_is_no_json_of_the_writer_is_refused(text):
    with pytest.raises(ValueError, match="^text must be JSON that Thing.to_json wrote"):
        unseal(text, "Thing.to_json", 1)


@pytest.mark.parametrize("number", [None, 0, 2, "1", [1], True])
def test_another_format_is_refused(number):
    text = json.dumps({"format": number})
    with pytest.raises(
        ValueError, match="format 1 of Thing.to_json, got format .* another version"
    ):
        unseal(text, "Thing.to_json", 1)
