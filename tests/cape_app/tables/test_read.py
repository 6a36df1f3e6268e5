"""Reading tables: every format in parts, and every mistake in one line."""

import datetime
import decimal
import gzip
import hashlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.base._table import (
    dotted_dates,
)
from cape_app.tables import (
    Dialect,
    TableError,
    missing_column,
)
from cape_app.tables._open import open_table
from cape_app.tables._table import (
    exact_parts,
    kind_of_type,
    to_frame,
    to_verbatim_frame,
)

TABLE = pd.DataFrame(
    {
        "age": [30, 41, 52, 63, 74],
        "score": [0.5, None, -1.5, 2e-3, 7.0],
        "race": ["a", "b", None, "ä, ö", 'said "x"\nand left'],
        "day": pd.to_datetime(
            ["2013-01-01", "2013-02-01", None, "2014-01-05", "2014-01-06"]
        ),
        "free": [True, False, True, True, False],
    }
)
FORMATS = ["csv", "csv.gz", "parquet", "feather", "stream.arrow"]
GERMAN = Dialect(";", "latin-1", ",")


def read(path, dialect=None, **options):
    """Read a whole table."""
    parts = list(open_table(path, dialect).parts(**options))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def save(path, frame=TABLE):
    if "csv" in path.name:
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path, row_group_size=2)
    elif path.name.endswith(".stream.arrow"):
        table = pa.Table.from_pandas(frame)
        with pa.ipc.new_stream(str(path), table.schema) as sink:
            sink.write_table(table, max_chunksize=2)
    else:
        frame.to_feather(path)
    return path


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a CSV."""

    def to_file(content, encoding="utf-8"):
        path = tmp_path / "t.csv"
        is_text = isinstance(content, str)
        path.write_bytes(content.encode(encoding) if is_text else content)
        return path

    return to_file


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("rows", [1, 3, 100])
def test_every_format_gives_the_same_rows_in_parts_of_the_length_asked_for(
    tmp_path, suffix, rows
):
    path = save(tmp_path / f"t.{suffix}")
    table = open_table(path)
    parts = list(table.parts(rows))
    lengths = [min(rows, 5 - start) for start in range(0, 5, rows)]
    assert [len(part) for part in parts] == lengths
    whole = pd.concat(parts, ignore_index=True)
    pd.testing.assert_frame_equal(whole, TABLE, check_dtype=False)
    assert table.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()
    assert table.names == list(TABLE)
    kinds = ["number", "number", "text", "date", "flag"]
    assert table.kinds() == dict(zip(TABLE, kinds, strict=True))


@pytest.mark.parametrize("suffix", FORMATS)
def test_columns_are_picked_in_the_order_asked_for(tmp_path, suffix):
    path = save(tmp_path / f"t.{suffix}")
    assert list(read(path, columns=["race", "age"])) == ["race", "age"]
    with pytest.raises(TableError, match=r"has no column 'rage'; did you mean 'age'"):
        read(path, columns=["rage"])


def test_a_missing_column_is_suggested_only_if_it_is_near():
    assert "did you mean 'Race'" in str(missing_column("race", ["age", "Race"], "f"))
    assert "columns are 'age'" in str(missing_column("target", ["age"], "f"))


def test_verbatim_fields_are_what_the_file_holds(tmp_path, write):
    path = write(
        'code,when,amount,day\n007,01/02/2013,1.50,31.12.2024\nNA,"",1e3,1.1.2025\n'
    )
    part = read(path, verbatim=True)
    assert part["code"].tolist() == ["007", "NA"]
    assert part["amount"].tolist() == ["1.50", "1e3"]
    assert part["when"].isna().tolist() == [False, True]
    assert part["day"].tolist() == ["31.12.2024", "1.1.2025"]
    numbers = pd.DataFrame({"n": pd.array([1, None], dtype="Int64")})
    part = read(save(tmp_path / "t.parquet", numbers), verbatim=True)
    assert str(part["n"].dtype) == "int64[pyarrow]"


def test_types_can_be_given_where_a_csv_leaves_them_open(write):
    path = write("zip,when,yes,n\n007,2013-01-02,1,5\n010,2013-01-03 10:00:00,0,6\n")
    assert open_table(path).kinds()["zip"] == "text"
    assert read(path)["zip"].tolist() == ["007", "010"]
    types = {"zip": "text", "when": "date", "yes": "flag", "n": "number"}
    frame = read(path, types=types)
    assert frame["zip"].tolist() == ["007", "010"]
    assert frame["when"].dtype.kind == "M"
    assert frame["yes"].tolist() == [True, False]
    assert frame["n"].dtype == float


@pytest.mark.parametrize("kind", ["number", "date", "flag"])
def test_a_field_of_another_type_is_named(write, kind):
    with pytest.raises(TableError, match="column 'n': expected .*, got .*seven"):
        read(write("n\nseven\n"), types={"n": kind})


@pytest.mark.parametrize(
    ("first", "last", "kind"),
    [
        ("1", "x", "text"),
        ("1", "2.5", "number"),
        ("", "3", "number"),
        ("2013-01-01", "soon", "text"),
        ("true", "7", "text"),
    ],
)
def test_a_type_is_that_of_the_whole_file_not_of_its_first_block(
    write, monkeypatch, first, last, kind
):
    monkeypatch.setattr("cape_app.tables._csv._BLOCK", 4096)
    path = write("a,b\n" + f"{first},0\n" * 5000 + f"{last},0\n")
    parts = list(open_table(path).parts(1000))
    assert sum(map(len, parts)) == 5001
    assert open_table(path).kinds()["a"] == kind
    assert parts[-1]["a"].iloc[-1] == (last if kind == "text" else float(last))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (["1", "2"], "int64"),
        (["1", "2.5"], "float64"),
        (["1", "99999999999999999999"], "str"),
        (["1", ""], "float64"),
        (["1e3", "-.5"], "float64"),
        (["inf", "-inf"], "float64"),
        (["1", "x"], "str"),
        (["1,5", "2,5"], "str"),
        (["true", "False"], "bool"),
        (["2024-02-29", "2024-03-01"], "datetime64[us]"),
        (["2024-02-29T10:00:00", "2024-03-01 11:00"], "datetime64[us]"),
        (["2023-02-29", "2024-03-01"], "str"),
        (["29.02.2024", "01.03.2024"], "datetime64[us]"),
        (["29.02.2023", "01.03.2024"], "str"),
        (["1.2.24", "1.2.3"], "str"),
        (["10:00:00", "11:30:00"], "str"),
        (["007", "8"], "str"),
        (["0", "-0.5"], "float64"),
        (["0x1F", "8"], "str"),
        (["2024-02-29T10:00Z", "2024-03-01 11:00+02:00"], "datetime64[us]"),
        (["2024-02-29T10:00Z", "01.03.2024", "2024-03-01"], "datetime64[us]"),
        (["2024-02-29 10:00:00.123456789", "2024-03-01"], "datetime64[us]"),
        (["2024-02", "2024-03"], "str"),
        ([" 1", "2 "], "int64"),
        (["\u00a01", "2"], "str"),
        (["", ""], "float64"),
    ],
)
@pytest.mark.parametrize("quoted", [False, True])
def test_what_a_column_of_fields_is_taken_for(write, fields, expected, quoted):
    quote = '"' if quoted or any("," in field for field in fields) else ""
    path = write("".join(f"{quote}{field}{quote},z\n" for field in ["a", *fields]))
    result = read(path)["a"]
    assert str(result.dtype) == expected
    assert result.isna().tolist() == [field == "" for field in fields]


MISTAKES = {
    "empty": (b"", r"t\.csv is empty"),
    "blank": (b"\n \n", r"t\.csv is empty"),
    "byte order mark": (b"\xef\xbb\xbf", r"t\.csv is empty"),
    "two separators": (b"a;b|c\n1;2|3\n", r"by a semicolon or a bar.*--separator"),
    "unclosed": (b'a,b\n1,2\n1,"2\n1,2\n', r"line 3: a quote .* not closed: close it"),
    "closed by another": (b'a,b\n1,"2\n1,2\n1,"2\n', r"line 2: a quote .* not closed"),
    "latin-1": (
        "name,n\ncafé,1\n".encode("latin-1"),
        r"is not utf-8 text.*latin-1 \(--encoding\)",
    ),
    "latin-1 header": ("café,n\n1,1\n".encode("latin-1"), r"is not utf-8 text"),
    "utf-16": ("a,b\n1,2\n".encode("utf-16"), r"seems to be UTF-16"),
    "binary": (b"\x00\x01\x02\x03" * 10, r"is not utf-8 text"),
    "ragged": (b"a,b\n1,2\n1,2,3\n", r"line 3: 3 fields where the header has 2"),
    "long name": (b'"' + b"x" * 200_000 + b'",b\n1,2\n', "cannot be read as CSV"),
    "zip": (b"PK\x03\x04rest", r"spreadsheet or a zip"),
    "cut parquet": (b"PAR1 and then nothing", r"not a whole Parquet file"),
    "cut arrow": (b"ARROW1\x00\x00 and then nothing", r"not a whole Arrow file"),
    "feather 1": (b"FEA1 and more", r"Feather 1 file"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_one_line_that_names_the_file(write, mistake):
    content, message = MISTAKES[mistake]
    path = write(content)
    with pytest.raises(TableError, match=message) as caught:
        read(path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)


ROWS = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(20_000))


def damaged(start, length):
    packed = bytearray(gzip.compress(ROWS, mtime=0))
    packed[start : start + length] = b"\xaa" * length
    return bytes(packed)


@pytest.mark.parametrize(
    "content",
    [
        damaged(10, 100),
        damaged(40_000, 100),
        gzip.compress(ROWS)[:50],
        gzip.compress(ROWS)[:40_000],
        gzip.compress(b"a,b\n1,2\n") + b"\x00" * 50,
    ],
    ids=["start damaged", "middle damaged", "start cut", "middle cut", "rest added"],
)
def test_a_damaged_gzip_file_is_named(write, content):
    path = write(content)
    for verbatim in (False, True):
        with pytest.raises(TableError, match=r"t\.csv is not a complete gzip file"):
            read(path, verbatim=verbatim)


def test_gzip_files_in_several_members_are_one_table(write):
    path = write(gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n"))
    assert read(path).to_numpy().tolist() == [[1, 2], [3, 4]]


def test_no_file_and_a_folder(tmp_path, write):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*nothing\.csv"):
        open_table(tmp_path / "nothing.csv")
    with pytest.raises(TableError, match="is a folder without tables"):
        open_table(tmp_path)
    with pytest.raises(ValueError, match="rows must be at least 1, got 0"):
        read(write("a\n1\n"), rows=0)


def test_a_table_without_rows_has_no_parts(write):
    table = open_table(write("a,b\n"))
    assert list(table.parts()) == []


def test_a_reader_that_is_left_early_does_no_harm(write, monkeypatch):
    monkeypatch.setattr("cape_app.tables._csv._BLOCK", 1024)
    path = write(ROWS)
    parts = open_table(path).parts(10)
    next(parts)
    parts.close()
    path.unlink()


def test_a_file_that_changes_is_noticed(tmp_path, write):
    table = open_table(write("a,b\n1,2\n"))
    table.check_unchanged()
    write("a,b\n1,2\n3,4\n")
    for check in (table.check_unchanged, table.sha256):
        with pytest.raises(TableError, match="changed while"):
            check()


@pytest.mark.parametrize(
    "faulty",
    [{"separator": s} for s in ["\n", "\r", '"', "é", "", ";;"]]
    + [{"encoding": "klingon"}, {"decimal": "'"}],
)
def test_a_dialect_that_cannot_be_is_refused(faulty):
    (name,) = faulty
    with pytest.raises(ValueError, match=f"{name} must be"):
        Dialect(**faulty)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "utf-32"])
def test_encodings_are_read_when_named(write, encoding):
    path = write("größe,n\nä,1\nö,2\n", encoding)
    frame = read(path, Dialect(encoding=encoding))
    assert frame["größe"].tolist() == ["ä", "ö"]
    with pytest.raises(TableError, match="is not utf-8 text"):
        open_table(path)


def test_a_file_that_is_no_utf_16_is_named(write):
    with pytest.raises(TableError, match=r"t\.csv is not utf-16 text"):
        read(write("a,b\n1,2\n"), Dialect(encoding="utf-16"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf_8", "UTF8", "utf-8-sig"])
def test_a_byte_order_mark_is_not_part_of_the_first_name(write, encoding):
    path = write(b"\xef\xbb\xbfage,race\n1,2\n")
    assert list(read(path, Dialect(encoding=encoding))) == ["age", "race"]


def test_names_are_made_distinct_and_never_empty(tmp_path, write):
    path = write("\ufeffa,a, b ,,a.1\n1,2,3,4,5\n")
    assert open_table(path).names == ["a", "a.1", "b", "column 4", "a.1.1"]
    assert read(path).iloc[0].tolist() == [1, 2, 3, 4, 5]
    assert read(path, columns=["column 4", "a.1"]).iloc[0].tolist() == [4, 2]
    double = pa.table([pa.array([1]), pa.array([2])], names=["x", "x"])
    pa.parquet.write_table(double, tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"several columns called 'x'"):
        open_table(tmp_path / "t.parquet")


def distinct_by_trying(header):
    """The rule in its plainest form: the first number that is free."""
    names = []
    for place, field in enumerate(header, 1):
        base = field.strip() or f"column {place}"
        name, copies = base, 0
        while name in names:
            copies += 1
            name = f"{base}.{copies}"
        names.append(name)
    return names


NAMES = st.sampled_from(["a", " a", "a.1", "a.2", "a.1.1", "", "column 2"])


@given(st.lists(NAMES, max_size=8))
def test_names_are_numbered_by_the_first_number_that_is_free(tmp_path_factory, more):
    header = ["first", "second", *more]
    path = tmp_path_factory.mktemp("names") / "t.csv"
    path.write_text(",".join(header) + "\n" + ",".join("1" * len(header)) + "\n")
    assert open_table(path).names == distinct_by_trying(header)


def test_thousands_of_equal_names_become_distinct(write):
    path = write(",".join(["a", "a.1", "a"] * 2000) + "\n" + ",".join("1" * 6000))
    assert len(set(open_table(path).names)) == 6000


def test_a_header_may_be_long_or_go_over_lines(write):
    # Longer than what is looked at first.
    names = [f"column number {i}" for i in range(2000)]
    path = write(",".join(names) + "\n" + ",".join("1" * 2000) + "\n")
    assert open_table(path).names == names and read(path).shape == (1, 2000)
    path = write('"over\ntwo, lines",b\n1,2\n3,4\n')
    assert read(path).to_dict("list") == {"over\ntwo, lines": [1, 3], "b": [2, 4]}


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,2\n3,4",
        "a,b\r\n1,2\r\n3,4\r\n",
        "a,b\n\n1,2\n\n3,4\n\n",
        '"a","b"\n"1","2"\n"3","4"',
    ],
)
def test_lines_without_an_end_without_fields_or_with_a_return_are_lines(write, content):
    assert read(write(content)).to_numpy().tolist() == [[1, 2], [3, 4]]


def test_numbers_with_a_comma_are_numbers(write):
    path = write("höhe;n;ort\n1,5;2;Köln\n-2,25e1;3;Ulm\n;4;\n", "latin-1")
    assert open_table(path, GERMAN).kinds() == {
        "höhe": "number",
        "n": "number",
        "ort": "text",
    }
    assert read(path, GERMAN)["höhe"].tolist()[:2] == [1.5, -22.5]


@pytest.mark.parametrize(
    ("decimal_sign", "field", "hint"),
    [
        (".", "1,5", "(--decimal ,)"),
        (",", "1.5", "(--decimal .)"),
        (".", "1,415", "between thousands, leave it out."),
        (".", "1,234,567.8", "without marks between the thousands."),
        (".", "1,5,5", ""),
        (".", "ten", ""),
    ],
)
def test_the_other_decimal_sign_is_named_in_the_error(write, decimal_sign, field, hint):
    path = write(f"x;n\n{field};2\n")
    with pytest.raises(TableError, match=f"column 'x'.*'{field}'") as error:
        read(path, Dialect(";", decimal=decimal_sign), types={"x": "number"})
    assert hint in str(error.value)
    assert hint or "--decimal" not in str(error.value)


def test_a_blank_that_does_not_break_is_shown(write):
    with pytest.raises(TableError, match=r"line 2, column 'a'.*got '\\xa041'"):
        read(write("a,b\n\u00a041,2\n"), types={"a": "number", "b": "number"})


DATES = st.dates(datetime.date(1000, 1, 1), datetime.date(2999, 12, 31))


@given(st.lists(DATES, min_size=1))
def test_every_date_with_the_day_first_comes_back(dates):
    texts = pd.Series([f"{date:%d.%m.%Y}" for date in dates], dtype="str")
    assert dotted_dates(texts).dt.date.tolist() == dates


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1.2.2024", "2024-02-01 00:00:00"),
        ("01.02.2024 08:30", "2024-02-01 08:30:00"),
        ("01.02.2024 08:30:15", "2024-02-01 08:30:15"),
        ("31.02.2024", "NaT"),
        ("32.01.2024", "NaT"),
        ("01.13.2024", "NaT"),
        ("1.2.24", "NaT"),
        ("2024-01-02", "NaT"),
    ],
)
def test_a_time_of_day_may_follow_and_what_is_no_date_is_missing(text, moment):
    assert str(dotted_dates(pd.Series([text, "01.02.2024"]))[0]) == moment


def test_a_column_may_be_in_either_format_where_dates_are_asked_for(write):
    types = {"when": "date", "n": "number"}
    dotted = read(write("when,n\n,0\n31.12.2024,1\n01.01.2025,2\n"), types=types)
    iso = read(write("when,n\n,0\n2024-12-31,1\n2025-01-01,2\n"), types=types)
    pd.testing.assert_frame_equal(dotted, iso)


@pytest.mark.parametrize("text", ["31.02.2024", "2024-13-02", "1.2.24", "x"])
def test_a_later_field_that_is_no_date_is_an_error(write, text):
    path = write(f"when\n31.12.2024\n{text}\n")
    with pytest.raises(TableError, match="column 'when': expected dates") as error:
        read(path, types={"when": "date"})
    assert str(path) in str(error.value) and repr(text) in str(error.value)


def test_a_first_part_without_dates_does_not_matter(write):
    table = open_table(write("when,n\n,1\n,2\n31.12.2024,3\n"))
    first, second = table.parts(2, types={"when": "date", "n": "number"})
    assert first["when"].isna().all()
    assert second["when"].dt.year.tolist() == [2024]


@settings(max_examples=60)
@given(
    st.binary(min_size=1, max_size=60)
    | st.text(alphabet='ab",;\n\r\t1 ', min_size=1, max_size=30).map(str.encode)
)
def test_any_bytes_are_a_table_or_an_error_of_one_line_that_names_the_file(
    tmp_path_factory, content
):
    path = tmp_path_factory.getbasetemp() / "hostile.csv"
    path.write_bytes(content)
    try:
        names = open_table(path).names
        read(path)
    except TableError as error:
        assert "hostile.csv" in str(error) and "\n" not in str(error)
    else:
        assert len(set(names)) == len(names)


@settings(max_examples=40, deadline=None)
@given(lengths=st.lists(st.integers(0, 7), max_size=8), rows=st.integers(1, 9))
def test_parts_hold_every_row_once_and_in_order(lengths, rows):
    numbers = np.arange(sum(lengths))
    cut = np.split(numbers, np.cumsum(lengths)[:-1]) if lengths else []
    batches = [pa.record_batch({"n": pa.array(part)}) for part in cut]
    parts = list(exact_parts(batches, rows))
    assert [n for part in parts for n in part["n"].to_pylist()] == numbers.tolist()
    assert all(len(part) == rows for part in parts[:-1])


def test_a_parquet_file_is_not_read_ahead(tmp_path):
    random = np.random.default_rng(0)
    table = pa.table({f"x{i}": random.normal(size=400_000) for i in range(5)})
    pa.parquet.write_table(table, tmp_path / "long.parquet", row_group_size=10_000)
    before = pa.total_allocated_bytes()
    parts = open_table(tmp_path / "long.parquet").parts(10_000)
    held = [pa.total_allocated_bytes() - before for _ in parts]
    assert len(held) == 40 and max(held) < table.nbytes / 4


KINDS = {
    "number": [
        pa.int8(),
        pa.uint64(),
        pa.float16(),
        pa.float64(),
        pa.decimal128(5, 2),
        pa.null(),
    ],
    "text": [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.time32("s"),
        pa.dictionary(pa.int32(), pa.string()),
    ],
    "date": [
        pa.date32(),
        pa.timestamp("ns", "UTC"),
        pa.dictionary(pa.int8(), pa.date32()),
    ],
    "flag": [pa.bool_()],
    "other": [
        pa.binary(),
        pa.list_(pa.int64()),
        pa.struct([("a", pa.int64())]),
        pa.duration("s"),
    ],
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_has_a_word(kind):
    assert {kind_of_type(type_) for type_ in KINDS[kind]} == {kind}


@pytest.mark.parametrize(
    ("values", "type_", "dtype", "first"),
    [
        ([decimal.Decimal("1.50"), None], None, "float64", "1.5"),
        ([None, None], pa.null(), "float64", "nan"),
        ([datetime.time(12, 30), None], None, "str", "12:30:00.000000"),
        (
            [datetime.date(2024, 2, 29), None],
            None,
            "datetime64[us]",
            "2024-02-29 00:00:00",
        ),
        (
            [datetime.datetime(2024, 2, 29, 1), None],
            pa.timestamp("s", "Europe/Berlin"),
            "datetime64[us, Europe/Berlin]",
            "2024-02-29 02:00:00+01:00",
        ),
        ([1, 2], pa.int16(), "int16", "1"),
        ([True, False], None, "bool", "True"),
    ],
)
def test_values_become_what_learners_take(values, type_, dtype, first):
    table = pa.table({"a": pa.array(values, type_), "b": pa.array([1, 2])})
    frame = to_frame(table)
    assert str(frame["a"].dtype) == dtype
    assert str(frame["a"].iloc[0]) == first


def test_a_copy_keeps_the_types_of_arrow():
    table = pa.table(
        {
            "n": pa.array([1, None], pa.int8()),
            "price": pa.array([decimal.Decimal("1.50"), None]),
            "day": pa.array([datetime.date(2024, 2, 29), None]),
        }
    )
    again = pa.Table.from_pandas(to_verbatim_frame(table), preserve_index=False)
    assert again.replace_schema_metadata(None).equals(table)


def test_the_index_of_the_writer_is_not_restored(tmp_path):
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index([10, 20], name="id"))
    frame.to_parquet(tmp_path / "t.parquet")
    back = read(tmp_path / "t.parquet")
    assert list(back.index) == [0, 1]
    assert back["id"].tolist() == [10, 20]


def test_given_types_of_all_columns_need_no_pass_to_find_them(write, monkeypatch):
    path = write("age,race\n1,a\n")
    monkeypatch.setattr("cape_app.tables._csv.CsvTable._find_kinds", None)
    assert read(path, types={"age": "number", "race": "text"})["age"].dtype == float
    assert read(path, types={"race": "text"}, columns=["race"]).shape == (1, 1)
    with pytest.raises(TypeError):
        read(path, types={"race": "text"})
