"""Comparing two builds: byte for byte, or to a tolerance, tested with numbers just inside and outside it."""

import pytest

from book.build.compare import main


@pytest.fixture
def builds(tmp_path):
    """Two builds of the same bytes."""
    for name in "ab":
        chapter = tmp_path / name / "results" / "full" / "01-one"
        chapter.mkdir(parents=True)
        (tmp_path / name / "html").mkdir()
        (tmp_path / name / "html" / "index.html").write_text("<p>1.5</p>")
        (chapter / "tab.csv").write_text("model,mean\nDist-1,1234.5\nDist-2,0.001\nnoise,1e-17\n")
        (chapter.parent / "ledger.csv").write_text("claim,verdict\nC01,proved\n")
        (chapter / "fig.png").write_bytes(b"dots")
    return tmp_path / "a", tmp_path / "b"


def change(build, name, old, new):
    path = build / name
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))


def test_equal_builds_are_the_same_in_both_ways(builds, capsys):
    assert main([*map(str, builds)]) == 0
    assert "4 files: identical" in capsys.readouterr().out
    assert main([*map(str, builds), "--tolerance"]) == 0
    assert "3 files: agree; the largest difference of two numbers is 0.0e+00" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "agree"),
    [
        ("1234.5", "1234.5006", True),  # 5 parts in 10⁷
        ("1234.5", "1234.502", False),  # 1.6 parts in 10⁶
        ("0.001", "0.0010000005", True),  # 5 · 10⁻¹⁰: under both
        ("0.001", "0.00100001", False),  # one part in 10⁵, and 10⁻⁸
        ("1e-17", "-3e-17", True),  # both are nothing
        ("1e-17", "2e-09", False),
        ("1e-17", "nan", False),  # a word, not a number
        ("Dist-1", "Dist-2", False),  # a name, whatever its digit
        ("noise,", "noise;", False),
        ("noise,1e-17\n", "noise,1e-17\nmore,1\n", False),
    ],
)
def test_numbers_may_differ_a_little_and_words_not_at_all(builds, capsys, old, new, agree):
    change(builds[1], "results/full/01-one/tab.csv", old, new)
    assert main([*map(str, builds), "--tolerance"]) == (0 if agree else 1)
    assert ("01-one/tab.csv" in capsys.readouterr().out) is not agree
    assert main([*map(str, builds)]) == 1  # never the same bytes


def test_a_verdict_that_moved_is_a_difference(builds, capsys):
    change(builds[1], "results/full/ledger.csv", "proved", "not shown")
    assert main([*map(str, builds), "--tolerance"]) == 1
    assert "'C01,proved' and 'C01,not shown'" in capsys.readouterr().out


def test_a_page_counts_in_bytes_alone(builds, capsys):
    change(builds[1], "html/index.html", "1.5", "1.6")
    assert main([*map(str, builds), "--tolerance"]) == 0
    assert main([*map(str, builds)]) == 1
    assert "html/index.html: differs at byte 5 of 10 and 10" in capsys.readouterr().out


def test_a_picture_counts_in_bytes_alone_for_its_drawing_is_compared(builds):
    (builds[1] / "results/full/01-one/fig.png").write_bytes(b"others")
    assert main([*map(str, builds), "--tolerance"]) == 0
    assert main([*map(str, builds)]) == 1


def test_a_missing_file_an_empty_build_and_no_build_are_told(builds, capsys, tmp_path):
    (builds[1] / "results/full/01-one/tab.csv").unlink()
    assert main([*map(str, builds)]) == main([*map(str, builds), "--tolerance"]) == 1
    assert f"tab.csv: only in {builds[0]}" in capsys.readouterr().out
    for name in ("c", "d"):
        (tmp_path / name).mkdir()
    assert main([str(tmp_path / "c"), str(tmp_path / "d")]) == 1  # nothing is not the same as nothing
    with pytest.raises(SystemExit):
        main([str(builds[0]), str(tmp_path / "nowhere")])
