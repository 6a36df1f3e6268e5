"""A new file is whole, has the rights that new files have, and is never over another one."""

import os
import stat

import pytest

from cape._newfile import check_free, new_file


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("there", [False, True])
def test_after_any_error_all_is_as_it_was(tmp_path, error, there):
    path = tmp_path / "a.txt"
    if there:
        path.write_text("old")
    with pytest.raises(error), new_file(path, overwrite=True) as temporary:
        temporary.write_text("half")
        raise error
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == (
        [("a.txt", "old")] if there else []
    )


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
    rights = [
        stat.S_IMODE((tmp_path / name).stat().st_mode)
        for name in ("new.txt", "plain.txt")
    ]
    assert rights[0] == rights[1]


def test_the_file_appears_at_the_end_and_beside_its_place_until_then(tmp_path):
    with new_file(tmp_path / "a.txt") as temporary:
        temporary.write_text("half")
        assert temporary.parent == tmp_path and temporary.name.startswith(".a.txt.")
        assert not (tmp_path / "a.txt").exists()
    assert (tmp_path / "a.txt").read_text() == "half" and not temporary.exists()


def test_a_temporary_file_that_was_taken_away_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), new_file(tmp_path / "a.txt") as temporary:
        temporary.unlink()
    assert list(tmp_path.iterdir()) == []


def test_a_place_is_free_or_the_reason_is_said(tmp_path):
    assert check_free(str(tmp_path / "a.txt")) == tmp_path / "a.txt"
    (tmp_path / "a.txt").touch()
    assert check_free(tmp_path / "a.txt", overwrite=True) == tmp_path / "a.txt"
    with pytest.raises(
        FileExistsError, match=r"a\.txt exists already, and is left as it is"
    ):
        check_free(tmp_path / "a.txt")
    for overwrite in (False, True):
        with pytest.raises(IsADirectoryError, match="is a folder: name a file"):
            check_free(tmp_path, overwrite=overwrite)
        with pytest.raises(
            FileNotFoundError, match=r"the folder .*nowhere of b\.txt does not exist"
        ):
            check_free(tmp_path / "nowhere" / "b.txt", overwrite=overwrite)
