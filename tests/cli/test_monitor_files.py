"""Which files ``cape monitor`` reads."""

import pytest

from cape.cli._monitor import _files


@pytest.fixture
def folder(tmp_path):
    for name in ("b.csv", "a.csv", ".hidden"):
        (tmp_path / name).write_text("x\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "c.csv").write_text("x\n")
    return tmp_path


def test_files_stay_in_the_order_given(folder):
    paths = [folder / "b.csv", folder / "a.csv"]
    assert _files(paths) == paths


def test_a_file_that_does_not_exist_is_left_to_the_reader(folder):
    paths = [folder / "none.csv"]
    assert _files(paths) == paths


def test_a_folder_stands_for_its_visible_files_by_name(folder):
    assert _files([folder]) == [folder / "a.csv", folder / "b.csv"]


def test_files_and_folders_can_be_mixed(folder):
    paths = [folder / "b.csv", folder / "inner"]
    assert _files(paths) == [folder / "b.csv", folder / "inner" / "c.csv"]


def test_a_folder_without_files_is_refused(folder):
    (folder / "inner" / "c.csv").unlink()
    with pytest.raises(ValueError, match=r"the folder .*inner holds no files"):
        _files([folder / "inner"])
