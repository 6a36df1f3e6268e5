"""The progress bar of training."""

from cape._progress import progress


def test_steps_pass_through_and_the_bar_fills(capsys):
    assert list(progress("abcd", 4, title="training", shown=True)) == list("abcd")
    first, *_, last = capsys.readouterr().err.strip("\r\n").split("\r")
    assert first.startswith("training [#######                       ] 1/4, ")
    assert last.startswith("training [##############################] 4/4, 0 s left")


def test_nothing_is_drawn_unless_asked_for(capsys):
    assert list(progress("ab", 2, title="training", shown=False)) == ["a", "b"]
    assert capsys.readouterr().err == ""
