"""The word on compilation: to whom, when, and how often."""

import io
import sys
from types import SimpleNamespace

import pytest

from crowder import compiling


def compile_event(module):
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))})


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(compiling.time, "monotonic", lambda: now[0])
    return now


def compiled(notice, clock, seconds, module="crowder.engine"):
    notice.on_start(compile_event(module))
    notice.on_start(compile_event("numba.np.arrayobj"))  # functions of numba's own are compiled inside
    clock[0] += seconds
    notice.on_end(compile_event("numba.np.arrayobj"))
    notice.on_end(compile_event(module))


def test_one_line_after_a_second_in_all(clock, monkeypatch):
    notice, terminal = compiling.Notice(), Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    compiled(notice, clock, 0.6)
    clock[0] += 100  # not spent on compiling
    assert terminal.getvalue() == ""
    compiled(notice, clock, 0.6)
    compiled(notice, clock, 5)
    assert terminal.getvalue().count("compiling") == 1


def test_not_about_others_nor_into_a_log(clock, monkeypatch):
    for file, module in ((Terminal(), "somebody.else"), (io.StringIO(), "crowder.engine")):
        monkeypatch.setattr(sys, "stderr", file)
        compiled(compiling.Notice(), clock, 5, module=module)
        assert file.getvalue() == ""


def test_numba_tells_it(monkeypatch):
    """The fields of numba's events that it reads exist: a function is compiled, and noticed."""
    from numba import njit
    from numba.core import event

    notice, seen = compiling.Notice(), []
    monkeypatch.setattr(notice, "_tell", lambda e: seen.append(e.data["dispatcher"].py_func.__name__))
    with event.install_listener("numba:compile", notice):
        njit(lambda x: x + 1)(1)
    assert seen == ["<lambda>", "<lambda>"] and notice.depth == 0 and notice.spent > 0
