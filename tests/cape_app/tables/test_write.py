"""Writing tables: complete or not at all, harmless, and read back as it was."""

import csv
import datetime
import decimal
import gzip
import io
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape_app.tables import Dialect, TableError
from cape_app.tables._open import open_table
from cape_app.tables._write import TableWriter

FRAME = pd.DataFrame(
    {
        "n": [1, -2, 3],
        "x": [0.1, None, -2.5],
        "text": ["a", "b,c", None],
        "flag": [True, False, True],
    }
)
NULLS = {"", "NA", "N/A", "NULL", "null", "NaN", "nan", "n/a", "#N/A", "#NA", "-nan"}
NULLS |= {"-NaN", "1.#IND", "1.#QNAN"}
GERMAN = Dialect(";", "latin-1", ",")


def read(path, dialect=None, **options):
    """Read a whole table."""
    return pd.concat(open_table(path, dialect).parts(**options), ignore_index=True)


def write(path, frame, cuts=(), dialect=None):
    with TableWriter(path, overwrite=True, dialect=dialect) as writer:
        for part in np.split(np.arange(len(frame)), sorted(cuts)):
            writer.write(frame.iloc[part])
    return path


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


text = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff"),
    max_size=8,
)
harmless = text.filter(
    lambda t: t not in NULLS and not t.startswith(tuple("=+-@\t\r\n＝＋－＠"))
)
finite = st.floats(allow_nan=False, allow_infinity=False)
moments = st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1))
KINDS = {
    "t": (st.none() | harmless, "str", "text"),
    "n": (st.none() | finite, "float64", "number"),
    "i": (st.integers(-(2**53), 2**53), "int64", "number"),
    "f": (st.booleans(), "bool", "flag"),
    "d": (st.none() | moments, "datetime64[us]", "date"),
}


@st.composite
def frames(draw):
    n = draw(st.integers(1, 8))
    columns = {}
    for name, (values, dtype, _) in KINDS.items():
        drawn = draw(st.lists(values, min_size=n, max_size=n))
        columns[name] = pd.Series(drawn, dtype=dtype)
    return pd.DataFrame(columns)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "parquet", "feather"])
@settings(max_examples=20)
@given(
    frame=frames(), cuts=st.lists(st.integers(0, 8), max_size=3), rows=st.integers(1, 9)
)
def test_any_table_cut_anyhow_comes_back(folder, suffix, frame, cuts, rows):
    cuts = [min(cut, len(frame)) for cut in cuts]
    path = write(folder / f"t.{suffix}", frame, cuts)
    types = {name: kind for name, (_, _, kind) in KINDS.items()}
    table = open_table(path, Dialect("\t") if suffix == "tsv" else None)
    result = pd.concat(table.parts(rows, types=types), ignore_index=True)
    expected = frame.astype({"i": "float64"}) if "sv" in suffix else frame
    pd.testing.assert_frame_equal(result, expected, check_dtype="sv" in suffix)
    if suffix in ("parquet", "feather"):
        assert table.kinds() == types


ENCODINGS = ["utf-8", "utf-8-sig", "cp1251", "utf-16", "utf-16-le", "utf-32"]


@pytest.mark.parametrize(
    ("encoding", "separator"),
    [(encoding, ";") for encoding in ENCODINGS]
    + [("utf-8", separator) for separator in ",|\t^]-.: \\"],
)
def test_every_dialect_written_is_read(folder, encoding, separator):
    letters = b"\xe0\xe9\xfc".decode("cp1251" if encoding == "cp1251" else "latin-1")
    frame = pd.DataFrame(
        {
            "id": [1, 2, 3],
            letters: [letters, f"a{separator}b\r\n", f'"{letters}"'],
            "x": [-0.5, None, 2],
            "day": pd.to_datetime(["2024-01-02 03:04", "2025-06-07 08:09", None]),
        }
    )
    dialect = Dialect(separator, encoding)
    path = write(folder / "d.csv", frame, [1, 2], dialect)
    expected = frame.astype({"day": "datetime64[us]"})
    back = read(path, dialect).astype({"day": "datetime64[us]"})
    pd.testing.assert_frame_equal(back, expected)


@given(st.lists(finite, min_size=1), st.sampled_from(";,\t|"))
def test_decimal_commas_that_are_written_are_read_again(folder, values, separator):
    dialect = Dialect(separator, "utf-8", ",")
    frame = pd.DataFrame({"x": values, "n": range(len(values))})
    path = write(folder / "decimal.csv", frame, dialect=dialect)
    types = {"x": "number", "n": "number"}
    assert read(path, dialect, types=types)["x"].tolist() == values
    assert "." not in path.read_text()


def test_a_comma_between_fields_too_makes_quotes(tmp_path):
    frame = pd.DataFrame({"x": [1.5], "n": [1], "text": ["a.b"]})
    path = write(tmp_path / "t.csv", frame, dialect=Dialect(decimal=","))
    assert path.read_text() == 'x,n,text\n"1,5",1,a.b\n'


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_what_is_written_has_the_mark_of_what_was_read(tmp_path, mark):
    path = tmp_path / "t.csv"
    path.write_bytes(mark + "größe;n\n1,5;2\n".encode())
    table = open_table(path, Dialect(";", decimal=","))
    (frame,) = table.parts()
    out = write(tmp_path / "out.csv", frame, dialect=table.dialect)
    assert out.read_bytes() == path.read_bytes()


def test_other_encodings_and_formats_have_no_mark(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfx\n1\n")
    latin = open_table(path, Dialect(encoding="latin-1"))
    assert latin.dialect.encoding == "latin-1"
    pd.DataFrame({"x": [1]}).to_parquet(tmp_path / "t.parquet")
    assert open_table(tmp_path / "t.parquet").dialect == Dialect()


def test_copying_a_file_keeps_its_fields(tmp_path):
    source = 'code,amount,note\n007,1.50,"a, b"\nNA,-3,\n00,1e3,x\n'
    (tmp_path / "a.csv").write_text(source)
    with TableWriter(tmp_path / "b.csv") as writer:
        for part in open_table(tmp_path / "a.csv").parts(2, verbatim=True):
            writer.write(part)
    assert (tmp_path / "b.csv").read_text() == source


@settings(max_examples=40)
@given(
    st.lists(
        st.lists(text.filter(lambda t: "\r" not in t), min_size=2, max_size=2),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.booleans(),
)
def test_what_pythons_csv_writes_is_read_field_by_field(
    folder, rows, newline, quoting, zipped
):
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, lineterminator=newline, quoting=quoting)
    writer.writerows([["a", "b"], *rows])
    content = sink.getvalue().encode()
    path = folder / "p.csv"  # gzip is told by the content, not by the name
    path.write_bytes(gzip.compress(content) if zipped else content)
    fields = read(path, rows=4, verbatim=True)
    assert fields.fillna("").to_numpy(dtype=object).tolist() == rows


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv"])
def test_a_file_cut_anywhere_is_refused_or_shorter_but_never_made_up(tmp_path, suffix):
    frame = pd.DataFrame({"a": np.arange(300), "b": [f"text {i}" for i in range(300)]})
    content = write(tmp_path / f"whole.{suffix}", frame, [100, 200]).read_bytes()
    path = tmp_path / f"cut.{suffix}"
    for size in np.linspace(1, len(content) - 1, 12).astype(int):
        path.write_bytes(content[:size])
        try:
            numbers = [n for part in open_table(path).parts() for n in part["a"]]
        except TableError as error:
            assert f"cut.{suffix}" in str(error)
        except KeyError:
            assert size < 10  # the header itself is cut
        else:
            assert suffix == "csv"
            assert numbers[:-1] == list(range(len(numbers) - 1))


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_parts_of_other_columns_or_types_leave_no_file(tmp_path, suffix):
    first = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    others = [first[["b", "a"]], first.rename(columns={"a": "c"}), first.assign(c=1)]
    if suffix != "csv":
        others.append(first.assign(a=[1.5, 2.5]))
    for other in others:
        with pytest.raises(ValueError), TableWriter(tmp_path / f"t.{suffix}") as writer:
            writer.write(first)
            writer.write(other)
    assert list(tmp_path.iterdir()) == []


def test_after_an_error_nothing_is_left(tmp_path):
    with (
        pytest.raises(RuntimeError, match="stop"),
        TableWriter(tmp_path / "t.csv") as writer,
    ):
        writer.write(FRAME)
        raise RuntimeError("stop")
    with (
        pytest.raises(UnicodeEncodeError),
        TableWriter(tmp_path / "t.csv", dialect=Dialect(",", "latin-1")) as writer,
    ):
        writer.write(pd.DataFrame({"a": ["fine"]}))
        writer.write(pd.DataFrame({"a": ["\u4f60"]}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("parts", [1, 3])
def test_an_error_in_writing_names_the_file_and_nothing_is_left(tmp_path, parts):
    odd = pd.DataFrame({"x": [1.0]})
    with (
        pytest.raises(TableError, match=r"t\.parquet cannot be written: disk full"),
        TableWriter(tmp_path / "t.parquet") as writer,
    ):
        writer.write(odd)
        writer._sink = FullDisk(writer._sink)
        for _ in range(parts):
            writer.write(odd)
    assert list(tmp_path.iterdir()) == []


class FullDisk:
    def __init__(self, sink):
        self.close = sink.close

    def write(self, table):
        raise OSError("disk full")


def test_a_frame_that_is_used_again_was_written_as_it_was(tmp_path):
    frame = pd.DataFrame({"x": np.zeros(200_000)})
    with TableWriter(tmp_path / "t.parquet") as writer:
        for i in range(3):
            frame.loc[:, "x"] = float(i)
            writer.write(frame)
    counts = read(tmp_path / "t.parquet")["x"].value_counts()
    assert counts.to_dict() == dict.fromkeys([0.0, 1.0, 2.0], 200_000)


def test_floats_have_no_dictionary_and_words_do(tmp_path):
    def has_dictionary(frame, place):
        path = write(tmp_path / "t.parquet", frame)
        group = pyarrow.parquet.ParquetFile(path).metadata.row_group(0)
        return any("DICTIONARY" in one for one in group.column(place).encodings)

    assert has_dictionary(FRAME, 2) and not has_dictionary(FRAME, 1)
    lists = pd.DataFrame({"words": [["a", "b"], ["a"]], "x": [0.5, 1.5]})
    assert has_dictionary(lists, 0)


def test_a_file_is_replaced_only_on_request(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("precious")
    with pytest.raises(FileExistsError), TableWriter(path):
        pass
    assert path.read_text() == "precious"
    with TableWriter(path, overwrite=True) as writer:
        writer.write(FRAME)
        assert path.read_text() == "precious"
    assert path.read_text().startswith("n,x,text,flag\n1,0.1,a,true\n")


def test_bad_places(tmp_path):
    with pytest.raises(TableError, match=r"must end in one of \.csv"):
        TableWriter(tmp_path / "t.xlsx")
    with pytest.raises(FileNotFoundError), TableWriter(tmp_path / "nowhere" / "t.csv"):
        pass
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(IsADirectoryError), TableWriter(tmp_path / "t.csv"):
        pass


DANGEROUS = [
    "=1+1",
    "+cmd",
    "-cmd",
    "@sum",
    "\t=1",
    "\r=1",
    "-1-1",
    "+1-555-0100",
    "\uff1d1",
    '=HYPERLINK("http://x")',
    "-",
    "-1,5,2",
]
HARMLESS = ["a=b", "1", "-1", "+1.5", "-.5e-3", "1e5", "", " =1", "x", "3-4", "'=1"]
HARMLESS += ["-1,5", "+,5"]


def fields_of(columns, dialect=None, folder=None):
    """The fields that Python's csv module reads, and how many were disarmed."""
    dialect = dialect or Dialect()
    path = folder / "fields.csv"
    frame = pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype)
    with TableWriter(path, dialect=dialect, overwrite=True) as writer:
        writer.write(frame)
    text = path.read_bytes().decode(dialect.encoding)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.separator)
    return list(lines), writer.disarmed


def test_text_that_a_spreadsheet_would_run_is_disarmed_and_no_other(tmp_path):
    columns = {"=x": DANGEROUS, "v": range(len(DANGEROUS))}
    lines, disarmed = fields_of(columns, folder=tmp_path)
    assert [line[0] for line in lines] == [f"'{value}" for value in ["=x", *DANGEROUS]]
    assert disarmed == len(DANGEROUS) + 1
    columns = {"x": HARMLESS, "v": range(len(HARMLESS))}
    lines, disarmed = fields_of(columns, folder=tmp_path)
    assert [line[0] for line in lines[1:]] == HARMLESS
    assert disarmed == 0


printable = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8
)


@settings(max_examples=100, deadline=None)
@given(st.lists(printable, min_size=1, max_size=6))
def test_any_text_comes_back_but_for_the_apostrophe(folder, values):
    lines, _ = fields_of({"v": values, "w": values}, folder=folder)
    for (field, _), value in zip(lines[1:], values, strict=True):
        assert field in (value, f"'{value}")
        assert field[:1] not in set("=@\t\r\n") - {""}


@pytest.mark.parametrize(
    "type_",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.dictionary(pa.int32(), pa.string()),
    ],
    ids=str,
)
def test_text_of_every_type_is_quoted_and_disarmed(tmp_path, type_):
    values = pa.array(["=1+1", 'a, "b"', None]).cast(type_)
    lines, disarmed = fields_of({"a": values, "b": [1, 2, 3]}, folder=tmp_path)
    assert lines == [["a", "b"], ["'=1+1", "1"], ['a, "b"', "2"], ["", "3"]]
    assert disarmed == 1


def test_numbers_dates_flags_and_lists_are_never_disarmed(tmp_path):
    columns = {
        "i": [-1, 2],
        "x": [-1.5, 2e-30],
        "price": [decimal.Decimal("-1.50"), None],
        "f": [True, False],
        "day": [datetime.date(2024, 2, 29), None],
        "nothing": pa.nulls(2),
        "list": [[1, 2], None],
    }
    lines, disarmed = fields_of(columns, folder=tmp_path)
    assert disarmed == 0
    assert lines[1] == ["-1", "-1.5", "-1.50", "true", "2024-02-29", "", "[1, 2]"]
    assert lines[2] == ["2", "2e-30", "", "false", "", "", ""]


def test_every_part_adds_to_what_was_disarmed_and_none_without_rows(tmp_path):
    with TableWriter(tmp_path / "t.csv") as writer:
        for _ in range(3):
            writer.write(pd.DataFrame({"a": ["=1+1", "fine", "@x"]}))
        writer.write(pd.DataFrame({"a": pd.Series([], dtype="str")}))
    assert writer.disarmed == 6
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 10


def test_a_missing_value_in_the_only_column_is_a_row(tmp_path):
    write(tmp_path / "t.csv", pd.DataFrame({"a": ["x", None, "y"]}))
    assert len(read(tmp_path / "t.csv")) == 3
