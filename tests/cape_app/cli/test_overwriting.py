"""No command writes over what it reads, nor twice to one file, whatever it is told."""

import itertools

import pytest

# What each command reads, and the options by which it writes.
READS = {
    "train": "t.csv --label y --key-file key",
    "predict": "m.cape t.csv --checked c.csv --key-file key",
    "sample": "m.cape t.csv --key-file key",
    "watch": "m.cape t.csv --key-file key",
    "audit": "t.csv --label y --prediction y",
}
WRITES = {
    "train": ["out"],
    "predict": ["out", "report"],
    "sample": ["out"],
    "watch": ["state", "report"],
    "audit": ["report"],
}
NAMES = {"out": "o.csv", "report": "r.html", "state": "s.json"}
CASES = []
for command, words in READS.items():
    read = [word for word in words.split() if "." in word or word == "key"]
    CASES += list(itertools.product([command], WRITES[command], read))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("t.csv", "m.cape", "c.csv", "key"):
        (tmp_path / name).write_text(f"y,the only {name}\n1,2\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(command, **changed):
    """Name an output for every option, besides what is changed."""
    words = [command, *READS[command].split()]
    for option in WRITES[command]:
        words += [f"--{option}", str(changed.get(option, NAMES[option]))]
    return words


@pytest.mark.parametrize(("command", "option", "read"), CASES)
def test_no_input_is_written_over(refused, folder, command, option, read):
    # A report is told by its ending, which inputs may have, too.
    ending = ".html" if option == "report" else ".csv"
    links = [f"soft{ending}", f"hard{ending}"]
    (folder / links[0]).symlink_to(folder / read)
    (folder / links[1]).hardlink_to(folder / read)
    for name in [read, f"../{folder.name}/{read}", *links]:
        call = called(command, **{option: name})
        refused(*call, "--force", says="which is being read")


@pytest.mark.parametrize("command", ["predict", "watch"])
def test_no_output_is_written_twice(refused, folder, command):
    for one, other in itertools.permutations(WRITES[command], 2):
        (folder / "link").unlink(missing_ok=True)
        (folder / "link").symlink_to(NAMES[one])
        # Some file systems do not tell them apart.
        for name in (NAMES[one], NAMES[one].upper(), folder / "link"):
            call = called(command, **{other: name})
            refused(*call, "--force", says="would be written twice")


def test_what_a_folder_holds_is_not_written_over(refused, folder):
    (folder / "march").mkdir()
    (folder / "march" / "a.csv").write_text("x\n1\n")
    (folder / "march" / "b.csv").symlink_to(folder / "c.csv")
    base = ("predict", "m.cape", "march", "--force", "--out")
    for name in ("march/a.csv", "c.csv"):
        refused(*base, name, says="which is being read")
    refused(*base, "march/new.csv", says="would be part of march")


def test_without_force_nothing_is_replaced(refused, folder):
    for command, options in WRITES.items():
        for option in set(options) - {"state"}:
            (folder / NAMES[option]).write_text("mine")
            refused(*called(command), says=f"{NAMES[option]} already exists")
            (folder / NAMES[option]).unlink()
