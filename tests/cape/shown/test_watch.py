"""What a watch says."""

from cape.shown._watch import answers, is_untested


def look(name, low=0.1, answer=True):
    group = {
        "group": "a",
        "since": "may",
        "decided": 0.2,
        "answers": {"broken": answer},
    }
    group["share"] = {"value": low, "low": low, "high": low}
    alarms = [{"question": "broken", "groups": ["a"], "look": "may", "since": "may"}]
    return {
        "look": name,
        "questions": ["broken"],
        "groups": [group],
        "alarms": alarms if answer else [],
    }


def test_an_alarm_that_stands_says_since_which_look():
    assert answers(look("may"))[1][0][4] == "YES"
    assert answers(look("june"))[1][0][4] == "YES, may"


def test_what_is_not_known_is_a_dash_and_not_tested_is_explained():
    _, rows = answers(look("june", low=None, answer=None))
    assert rows[0][2:5] == ["-", "-", "not tested"]
    assert is_untested(rows) and not is_untested(answers(look("may"))[1])
