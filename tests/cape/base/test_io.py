"""New files are whole and replace no other unasked; bars show how far work is."""

import os
import re
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape.base import _io


def contents(folder):
    """Names and texts of all files in a folder, hidden ones included."""
    return {file.name: file.read_text() for file in folder.iterdir()}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("before", [{}, {"a.txt": "old"}], ids=["new", "old"])
def test_after_any_error_all_is_as_it_was(tmp_path, error, before):
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    with (
        pytest.raises(error),
        _io.new_file(tmp_path / "a.txt", overwrite=True) as temporary,
    ):
        temporary.write_text("half")
        raise error
    assert contents(tmp_path) == before


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_rights_of_any_other(tmp_path, mask):
    before = os.umask(mask)
    try:
        with _io.new_file(tmp_path / "new.txt") as temporary:
            temporary.write_text("whole")
        (tmp_path / "plain.txt").write_text("whole")
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    rights = []
    for name in ("new.txt", "plain.txt"):
        mode = (tmp_path / name).stat().st_mode
        rights.append(stat.S_IMODE(mode))
    assert rights[0] == rights[1]


def test_a_reader_keeps_the_old_file_while_it_is_replaced(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with path.open() as reader:
        with _io.new_file(path, overwrite=True) as temporary:
            temporary.write_text("new")
            assert path.read_text() == "old"
            # In the same folder, where a renaming is atomic.
            assert temporary.parent == tmp_path
        assert reader.read() == "old"
    assert path.read_text() == "new"


def test_a_file_that_comes_meanwhile_is_not_replaced(tmp_path):
    path = tmp_path / "a.txt"
    with (
        pytest.raises(FileExistsError, match="already exists"),
        _io.new_file(path) as temporary,
    ):
        temporary.write_text("mine")
        path.write_text("another's")
    assert contents(tmp_path) == {"a.txt": "another's"}


def test_two_files_of_one_name_do_not_disturb_each_other(tmp_path):
    path = tmp_path / "a.txt"
    with (
        _io.new_file(path, overwrite=True) as first,
        _io.new_file(path, overwrite=True) as second,
    ):
        assert first != second
        first.write_text("first")
        second.write_text("second")
    # The block of the first ends last.
    assert contents(tmp_path) == {"a.txt": "first"}


def test_an_error_of_the_disk_names_the_file_that_was_asked_for(tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(28, "No space left on device", ".a.txt.xyz.part")

    monkeypatch.setattr("cape.base._io.os.open", fail)
    path = tmp_path / "a.txt"
    with pytest.raises(OSError, match="No space left") as caught, _io.new_file(path):
        pass
    assert caught.value.errno == 28
    assert caught.value.filename == str(path)


def test_a_signal_right_after_the_file_was_made_leaves_none(tmp_path, monkeypatch):
    close = os.close

    def stopped(handle):
        close(handle)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "close", stopped)
    with pytest.raises(KeyboardInterrupt), _io.new_file(tmp_path / "a.txt"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_place_that_cannot_be_written_is_named(tmp_path, overwrite):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.txt").touch()
    wrong = {
        ".": "is a folder: name a file",
        "nowhere/b.txt": r"the folder .*nowhere of b\.txt does not exist",
        "loop": "leads to itself" if overwrite else "already exists",
        "pipe": "a pipe or a device" if overwrite else "already exists",
    }
    if not overwrite:
        wrong["a.txt"] = r"a\.txt already exists, and is left"
    for name, message in wrong.items():
        with pytest.raises(OSError, match=message):
            _io.check_free(tmp_path / name, overwrite=overwrite)
    assert _io.check_free(str(tmp_path / "new.txt")) == tmp_path / "new.txt"
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_is_followed(tmp_path, exists):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    target = folder / "real.txt"
    if exists:
        target.write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    with pytest.raises(FileExistsError), _io.new_file(link):
        pass
    with _io.new_file(link, overwrite=True) as temporary:
        temporary.write_text("new")
        # The rename must stay within a folder.
        assert temporary.parent == folder
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_outputs_are_told_from_inputs_by_the_file(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("x")
    (tmp_path / "link.csv").symlink_to(table)
    (tmp_path / "hard.csv").hardlink_to(table)
    for name in ("t.csv", "link.csv", "hard.csv", "../" + tmp_path.name + "/t.csv"):
        with pytest.raises(ValueError, match="which is being read"):
            _io.check_apart([None, tmp_path / name], [table])
    _io.check_apart([tmp_path / "new.csv", None], [table, tmp_path / "missing.csv"])


def test_an_output_is_written_once(tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "new.csv")
    with pytest.raises(ValueError, match="twice"):
        _io.check_apart([tmp_path / "new.csv", tmp_path / "link.csv"], [])


LINE = re.compile(r"training \[(#*)( *)\] (\d+)/(\d+), (\d+) s left ")


class Clock:
    """A clock that a test turns by hand."""

    now = 100.0

    def monotonic(self):
        return self.now


def bars(text):
    """The bars that were drawn one over the other, after an empty one."""
    nothing, empty, *lines = text.removesuffix("\n").split("\r")
    assert nothing == ""
    assert re.fullmatch(r"training \[ +\] 0/\d+", empty)
    return [LINE.fullmatch(line) for line in lines]


@pytest.mark.parametrize("total", [1, 7])
def test_the_bar_fills_with_the_steps_and_tells_the_time_left(
    capsys, monkeypatch, total
):
    clock = Clock()
    monkeypatch.setattr(_io, "time", clock)

    def steps():
        for number in range(total):
            clock.now += 10
            yield number

    passed = list(_io.progress(steps(), total, title="training", shown=True))
    out, err = capsys.readouterr()
    drawn = bars(err)
    assert passed == list(range(total))
    assert out == ""
    assert err.count("\n") == 1 and err.endswith("\n")
    assert [int(bar[3]) for bar in drawn] == list(range(1, total + 1))
    assert [int(bar[5]) for bar in drawn] == list(range(10 * total - 10, -1, -10))
    for done, bar in enumerate(drawn, 1):
        assert len(bar[1]) == 30 * done // total
        assert len(bar[1]) + len(bar[2]) == 30


@given(st.lists(st.integers()))
def test_steps_pass_through_when_they_are_needed(steps):
    taken = []

    def counted():
        for step in steps:
            taken.append(step)
            yield step

    passed = _io.progress(counted(), len(steps), title="t", shown=False)
    assert taken == []
    for number, step in enumerate(passed, 1):
        assert step == steps[number - 1]
        assert len(taken) == number
