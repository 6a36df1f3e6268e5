"""Model files that are signed, and commands that refuse others."""

import pytest


@pytest.fixture
def signed(people_folder, tmp_path, cape):
    """A signed model file and its key, and the key of somebody else."""
    for name in ("key", "other"):
        (tmp_path / name).write_text(f"the secret of {name}\n")
    paths = tmp_path / "signed.cape", tmp_path / "key", tmp_path / "other"
    code, _, err = cape(
        "train", people_folder / "train.csv", "--label", "y", "--group", "race",
        "--learner", "logistic", "--cv", 2, "--out", paths[0], "--key-file", paths[1],
    )  # fmt: skip
    assert code == 0, err
    return paths


def reading(model, batch, folder):
    """Every command that reads a model file."""
    return {
        "info": ["info", model],
        "predict": ["predict", model, batch],
        "sample": ["sample", model, batch, "--rows", 20, "--out", folder / "s.csv"],
    }


def test_commands_refuse_what_the_key_has_not_signed(
    signed, people_folder, tmp_path, cape, refused, environ
):
    model, key, other = signed
    batch = people_folder / "new.csv"
    for command in reading(model, batch, tmp_path).values():
        refused(*command, "--key-file", other, says=["signed.cape", "not signed"])
    for name in ("info", "predict"):
        command = reading(model, batch, tmp_path)[name]
        code, _, err = cape(*command, "--key-file", key)
        assert code == 0, err
    unsigned = reading(people_folder / "m.cape", batch, tmp_path)["info"]
    refused(*unsigned, "--key-file", key, says="not signed")
    environ("CAPE_KEY", "the secret of key")
    refused(*unsigned, says="not signed")
    assert cape("info", model)[0] == 0


def test_a_key_file_that_is_not_there_is_said_before_any_work(
    people_folder, tmp_path, refused
):
    refused(
        "train", people_folder / "train.csv", "--label", "y", "--out",
        tmp_path / "m.cape", "--key-file", tmp_path / "nowhere", says="nowhere",
    )  # fmt: skip
