"""Decimal commas: read, written, and hinted at where nobody spoke of them."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._tables import (
    Dialect,
    TableError,
    TableWriter,
    read_table,
    same_dialect,
    table_kinds,
)

GERMAN = Dialect(";", "latin-1", ",")


def test_numbers_with_a_comma_are_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("höhe;n;ort\n1,5;2;Köln\n-2,25e1;3;Ulm\n;4;\n", encoding="latin-1")
    assert table_kinds(path, dialect=GERMAN) == {
        "höhe": "number",
        "n": "number",
        "ort": "text",
    }
    frame = read_table(path, dialect=GERMAN)
    assert frame["höhe"].tolist()[:2] == [1.5, -22.5]


@given(
    values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1),
    separator=st.sampled_from(";,\t|"),
)
def test_what_is_written_is_read_again(tmp_path_factory, values, separator):
    path = tmp_path_factory.mktemp("decimal") / "t.csv"
    dialect = Dialect(separator, "utf-8", ",")
    frame = pd.DataFrame({"x": values, "n": range(len(values))})
    with TableWriter(path, dialect=dialect) as writer:
        writer.write(frame)
    back = read_table(path, dialect=dialect, types={"x": "number", "n": "number"})
    assert back["x"].tolist() == values
    assert "." not in path.read_text()


def test_a_comma_between_fields_too_makes_quotes(tmp_path):
    with TableWriter(tmp_path / "t.csv", dialect=Dialect(decimal=",")) as writer:
        writer.write(pd.DataFrame({"x": [1.5], "n": [1], "text": ["a.b"]}))
    assert (tmp_path / "t.csv").read_text() == 'x,n,text\n"1,5",1,a.b\n'


def test_negative_numbers_with_a_comma_are_no_formulas(tmp_path):
    with TableWriter(tmp_path / "t.csv", dialect=GERMAN) as writer:
        writer.write(pd.DataFrame({"x": ["-1,5", "+,5", "-1,5,2"]}))
    assert (tmp_path / "t.csv").read_text() == "x\n-1,5\n+,5\n'-1,5,2\n"
    assert writer.disarmed == 1


@pytest.mark.parametrize(
    ("decimal", "field", "hint"),
    [(".", "1,5", " (--decimal ,)."), (",", "1.5", " (--decimal .).")],
)
def test_the_other_sign_is_named_in_the_error(tmp_path, decimal, field, hint):
    path = tmp_path / "t.csv"
    path.write_text(f"x;n\n{field};2\n")
    dialect = Dialect(";", decimal=decimal)
    with pytest.raises(TableError) as error:
        read_table(path, types={"x": "number", "n": "number"}, dialect=dialect)
    assert f"column 'x': expected numbers, got '{field}'" in str(error.value)
    assert str(error.value).endswith(hint)


@pytest.mark.parametrize("field", ["a,b", "1,5,5", "ten"])
def test_words_get_no_hint(tmp_path, field):
    path = tmp_path / "t.csv"
    path.write_text(f"x;n\n{field};2\n")
    with pytest.raises(TableError) as error:
        read_table(path, types={"x": "number", "n": "number"}, dialect=Dialect(";"))
    assert "--decimal" not in str(error.value)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_what_is_written_has_the_mark_of_what_was_read(tmp_path, mark):
    path = tmp_path / "t.csv"
    path.write_bytes(mark + "größe;n\n1,5;2\n".encode())
    dialect = same_dialect(path, Dialect(";", decimal=","))
    with TableWriter(tmp_path / "out.csv", dialect=dialect) as writer:
        writer.write(read_table(path, dialect=dialect))
    assert (tmp_path / "out.csv").read_bytes() == path.read_bytes()


def test_other_encodings_and_formats_have_no_mark(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfx\n1\n")
    assert same_dialect(path, Dialect(encoding="latin-1")).encoding == "latin-1"
    pd.DataFrame({"x": [1]}).to_parquet(tmp_path / "t.parquet")
    assert same_dialect(tmp_path / "t.parquet", Dialect()) == Dialect()
