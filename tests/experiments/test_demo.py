"""The demo's numbers: CAPE follows both groups, Max_Acc does not."""

from cape.experiments import run_demo


def test_cape_is_fairer_than_max_acc_where_both_groups_move():
    told = []
    table = run_demo(n_train=3000, n_test=3000, random_state=1, on_step=told.append)
    assert table.index.tolist() == told == ["Max_Acc", "CAPE", "CAPE threshold"]
    for group in (0, 1):
        assert (
            table["pd", group].drop("Max_Acc") < table.loc["Max_Acc", ("pd", group)]
        ).all()
    assert (
        table["pe", "worst pair"].drop("Max_Acc")
        < table.loc["Max_Acc", ("pe", "worst pair")]
    ).all()
    assert (table["accuracy", 0] > 0.85).all()


def test_same_seed_same_table():
    first, second = (
        run_demo(n_train=1000, n_test=500, random_state=3) for _ in range(2)
    )
    assert first.equals(second)
