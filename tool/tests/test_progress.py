"""Progress: the command says how far it is, Python says nothing."""

from crowder_tool import progress


def test_a_long_loop_says_how_far_it_is_and_only_where_somebody_has_asked(monkeypatch, capfd):
    monkeypatch.setattr(progress, "FIRST", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    assert list(progress.counted("abcd", "comparing")) == list("abcd")
    assert capfd.readouterr() == ("", "")
    with progress.told("finding pairs"):
        assert list(progress.counted("abcd", "comparing")) == list("abcd")
    out, err = capfd.readouterr()
    assert out == "" and "finding pairs: comparing:  50%" in err.replace("\r", "\n") and "2/4" in err
