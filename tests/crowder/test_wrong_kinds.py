"""Every argument of every public callable, given a value of another type, raises an error that names it or works.

The examples in the docstrings are run once, to record how each callable is called. Then each argument in turn is
replaced by None, text, an object, or numbers that are not finite. The result may be an error of a documented class that
names the argument, but never an error of Python or NumPy from inside. Which values must be rejected is listed call by
call in the tables bad_*.py.
"""

import contextlib
import copy
import doctest
import functools
import importlib
import inspect
import io
import os
import pkgutil
import warnings

import numpy as np
import pytest
from test_bad_input import CLASSES, FROM_INSIDE, public

import crowder


class Thing:
    def __repr__(self):
        return "<a thing>"


#: What is put in each argument's place; made anew for each call, since an iterator is spent by one.
KINDS = {
    "nothing": lambda: None,
    "text": lambda: "x",
    "empty text": lambda: "",
    "a thing": Thing,
    "below zero": lambda: -1,
    "a fraction": lambda: 2.5,
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "a list of nothing": lambda: [None],
    "a list of text and a number": lambda: ["a", 1],
    "an empty list": list,
    "a mapping": dict,
    "bytes": lambda: b"x",
    "complex": lambda: 1j,
    "a matrix": lambda: np.array([[0.5]]),
    "an iterator": lambda: iter([]),
}

#: Arguments that are not looked at: what they are given is whatever the caller likes, or another library's to judge.
ANYTHING = {
    "repeat.settings", "sweep.settings",
    "Faulty.vote.number", "synthetic_candidates.pairs",
}  # fmt: skip

#: Also how they talk; the tables have no call that comes so far.
MORE = ("unsupported operand", "ufunc", "ambiguous", "broadcast", "has no len()", "bad operand", "can't multiply",
        "division by zero", "too many indices", "out of range", "SympifyError", "unsupported format")  # fmt: skip


def called():
    """Each public callable with the arguments of its first call in the docstrings: (name, call, arguments)."""
    seen, patched = {}, []
    functions = {id(thing): name for name, thing in public() if inspect.isfunction(thing)}
    kinds = {thing: name for name, thing in public() if inspect.isclass(thing) and not hasattr(thing, "_fields")}

    def watch(owner, name, function, told):
        @functools.wraps(function)
        def watched(*args, **kwargs):
            if told not in seen:
                own = args[1:] if inspect.isclass(owner) else args
                me = args[0] if inspect.isclass(owner) and name != "__init__" else None
                with contextlib.suppress(TypeError):  # what cannot be copied is no argument to vary
                    seen[told] = (owner if name == "__init__" else function, *copy.deepcopy((me, own, kwargs)))
            return function(*args, **kwargs)

        patched.append((owner, name, function))
        setattr(owner, name, watched)

    modules = [importlib.import_module(m.name)
               for m in pkgutil.walk_packages(crowder.__path__, "crowder.")
               if not m.name.endswith("__main__")]  # fmt: skip
    for module in modules:
        for name, thing in list(vars(module).items()):
            if id(thing) in functions and thing.__module__ == module.__name__:
                watch(module, name, thing, functions[id(thing)])
    for kind, told in kinds.items():
        for name, function in list(vars(kind).items()):
            if inspect.isfunction(function) and (not name.startswith("_") or name in ("__init__", "__call__")):
                watch(kind, name, function, told if name == "__init__" else f"{told}.{name}")
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    with contextlib.redirect_stdout(io.StringIO()):
        for module in modules:
            for example in finder.find(module, module.__name__):
                runner.run(example, out=lambda _: None)
    for owner, name, function in patched:
        setattr(owner, name, function)
    return seen


def outcome(function, me, args, kwargs):
    """What comes back: nothing, or an error. A generator is asked for its first."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("error")
            made = function(*args, **kwargs) if me is None else function(me, *args, **kwargs)
            if inspect.isgenerator(made):
                next(made, None)
    except Exception as error:
        return error
    return None


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("calls"))
        patch.delenv("CROWDER_CORA", raising=False)
        patch.setattr("tempfile.tempdir", os.getcwd())
        yield called()


def test_the_examples_call_nearly_all_that_is_public(calls):
    lacking = {name for name, thing in public() if inspect.isfunction(thing)} - set(calls)
    assert lacking <= {"cora_records"}, lacking  # it has no example to run
    assert len(calls) > 70


@pytest.mark.parametrize("kind", KINDS)
def test_another_kind_is_refused_at_the_door(calls, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for files that a call makes
    wrong, tried = [], 0
    for name, (function, me, args, kwargs) in calls.items():
        parameters = list(inspect.signature(function).parameters.values())
        parameters = parameters[1:] if me is not None else parameters
        try:
            bound = inspect.Signature(parameters).bind(*args, **kwargs)
        except TypeError:
            continue
        for parameter in parameters:
            told = f"{name}.{parameter.name}"
            if parameter.kind is parameter.VAR_KEYWORD or told in ANYTHING:
                continue
            given = copy.deepcopy(bound.arguments)
            value = KINDS[kind]()
            given[parameter.name] = (value,) if parameter.kind is parameter.VAR_POSITIONAL else value
            one = inspect.BoundArguments(bound.signature, given)
            error, tried = outcome(function, copy.deepcopy(me), one.args, one.kwargs), tried + 1
            words = " ".join(str(error).split())
            if error is not None and (
                type(error).__name__ not in CLASSES or any(inside in words for inside in (*FROM_INSIDE, *MORE))
            ):
                wrong.append(f"{told} = {kind}: {type(error).__name__}: {words[:150]}")
    assert tried > 150
    assert wrong == [], "\n".join(wrong)
