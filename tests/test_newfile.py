"""A new file is whole, has the usual rights, and replaces no other file unasked."""

import os
import stat

import pytest

from cape._newfile import check_free, new_file


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
        new_file(tmp_path / "a.txt", overwrite=True) as temporary,
    ):
        temporary.write_text("half")
        raise error
    assert contents(tmp_path) == before


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_rights_of_any_other(tmp_path, mask):
    before = os.umask(mask)
    try:
        with new_file(tmp_path / "new.txt") as temporary:
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


def test_the_file_appears_at_the_end_only(tmp_path):
    with new_file(tmp_path / "a.txt") as temporary:
        temporary.write_text("half")
        assert not (tmp_path / "a.txt").exists()
        # In the same folder, where a renaming is atomic.
        assert temporary.parent == tmp_path
        assert temporary.name.startswith(".a.txt.")
    assert contents(tmp_path) == {"a.txt": "half"}


def test_a_reader_keeps_the_old_file_while_it_is_replaced(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with path.open() as reader:
        with new_file(path, overwrite=True) as temporary:
            temporary.write_text("new")
            assert path.read_text() == "old"
        assert reader.read() == "old"
    assert path.read_text() == "new"


def test_a_file_that_comes_meanwhile_is_not_replaced(tmp_path):
    path = tmp_path / "a.txt"
    with (
        pytest.raises(FileExistsError, match="exists already"),
        new_file(path) as temporary,
    ):
        temporary.write_text("mine")
        path.write_text("another's")
    assert contents(tmp_path) == {"a.txt": "another's"}


def test_two_files_of_one_name_do_not_disturb_each_other(tmp_path):
    path = tmp_path / "a.txt"
    with (
        new_file(path, overwrite=True) as first,
        new_file(path, overwrite=True) as second,
    ):
        assert first != second
        first.write_text("first")
        second.write_text("second")
    # The block of the first ends last.
    assert contents(tmp_path) == {"a.txt": "first"}


def test_a_temporary_file_that_was_taken_away_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), new_file(tmp_path / "a.txt") as temporary:
        temporary.unlink()
    assert contents(tmp_path) == {}


def test_nothing_runs_if_the_place_is_not_free(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(FileExistsError), new_file(tmp_path / "a.txt"):
        raise AssertionError("the block must not run")
    assert contents(tmp_path) == {"a.txt": "old"}


def test_an_error_of_the_disk_names_the_file_that_was_asked_for(tmp_path, monkeypatch):
    def fail(**settings):
        raise OSError(28, "No space left on device", ".a.txt.xyz.part")

    monkeypatch.setattr("cape._newfile.tempfile.mkstemp", fail)
    path = tmp_path / "a.txt"
    with pytest.raises(OSError, match="No space left") as caught, new_file(path):
        pass
    assert caught.value.errno == 28
    assert caught.value.filename == str(path)


def test_a_place_that_is_free_is_returned_as_a_path(tmp_path):
    path = tmp_path / "a.txt"
    assert check_free(str(path)) == path
    path.touch()
    assert check_free(path, overwrite=True) == path


def test_a_file_in_the_way_is_named(tmp_path):
    path = tmp_path / "a.txt"
    path.touch()
    with pytest.raises(FileExistsError, match=r"a\.txt exists already, and is left"):
        check_free(path)


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_cannot_be_replaced(tmp_path, overwrite):
    with pytest.raises(IsADirectoryError, match="is a folder: name a file"):
        check_free(tmp_path, overwrite=overwrite)


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_that_does_not_exist_is_named(tmp_path, overwrite):
    path = tmp_path / "nowhere" / "b.txt"
    message = r"the folder .*nowhere of b\.txt does not exist"
    with pytest.raises(FileNotFoundError, match=message):
        check_free(path, overwrite=overwrite)
