"""Bad input raises an error that names the argument or the file. See bad_input.py."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import bad_input
import pytest
from bad_input import CASES, PLACE, message, outcome

import crowder as cr
from crowder.cora.records import CORA_VARIABLE

ROOT = Path(__file__).resolve().parents[2]

#: The classes of errors that a call may raise.
CLASSES = {"ValueError", "TypeError", "OSError", "FileNotFoundError", "IsADirectoryError", "IndexError", "KeyError",
           "BuildError"}  # fmt: skip

#: Parts of messages of Python and NumPy when an argument was not checked.
FROM_INSIDE = (
    "NoneType", "object is not subscriptable", "object is not iterable", "cannot unpack", "unhashable",
    "could not convert", "setting an array element", "not supported between", "SeedSequence", "has no attribute",
    "cannot be interpreted as an integer", "object is not callable", "zero-size array", "zip() argument",
    "invalid literal", "empty sequence",
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def place(tmp_path_factory):
    """A folder for the files, and no path to cora, for which some calls ask in vain."""
    before, PLACE["folder"] = os.environ.pop(CORA_VARIABLE, None), str(tmp_path_factory.mktemp("bad"))
    yield
    if before is not None:
        os.environ[CORA_VARIABLE] = before


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{case.about}: {case.source[:60]}" for case in CASES])
@pytest.mark.filterwarnings("error")
def test_bad_input_is_refused_by_a_message_that_names_it(number):
    case, error = CASES[number], outcome(number)
    assert isinstance(error, Exception), f"{case.source}: {error}"
    assert type(error) is case.row.error and type(error).__name__ in CLASSES, repr(error)
    assert case.row.says and case.row.says in message(error), message(error)
    assert not any(words in message(error) for words in FROM_INSIDE if words not in case.source), message(error)


def test_the_page_shows_every_call_and_its_error():
    """tests/bad_input/bad_input.md is for reading; so it must be what the calls do."""
    made = bad_input.page()
    if os.environ.get("CROWDER_WRITE"):
        bad_input.PAGE.write_text(made, encoding="utf-8")
    assert bad_input.PAGE.read_text(encoding="utf-8") == made


#: Public callables without a row, and why.
WITHOUT = {"uniform": "takes nothing"}


def public():
    """Every public callable of `crowder` and of modules it names: (name, object)."""
    for name in cr.__all__:
        thing = getattr(cr, name)
        if inspect.ismodule(thing):
            for inner in thing.__all__:
                if callable(getattr(thing, inner)):
                    yield inner, getattr(thing, inner)
        elif callable(thing):
            yield name, thing


def test_every_public_callable_has_bad_input_in_the_tables():
    called = " ".join(case.source for case in CASES)
    lacking = {
        name
        for name, thing in public()
        if f"{name}(" not in called and name not in WITHOUT and not (inspect.isclass(thing) and is_plain(thing))
    }
    assert lacking == set()
    assert set(WITHOUT) <= {name for name, _ in public()}
    assert not [name for name in WITHOUT if f"{name}(" in called]


def is_plain(kind):
    """A tuple with names, or an abstract class: nothing is computed when one is made."""
    return hasattr(kind, "_fields") or inspect.isabstract(kind)


COMMANDS = [
    (["-m", "book.build", "--profile", "nope"], "error: --profile nope: expected one of full, quick"),
    (["-m", "book.build", "--jobs", "0"], "--jobs and --timeout must be at least 1"),
    (["-m", "book.build", "--jobs", "two"], "argument --jobs: invalid int value: 'two'"),
    (["-m", "book.build", "--output", "{file}"], "error: [Errno 17] File exists: "),
    (["-m", "book.build", "--output", "{loop}"], "error: "),
    (["-m", "crowder.cora", "{absent}"], "error: [Errno 2] No such file or directory"),
]


@pytest.mark.parametrize(("words", "said"), COMMANDS, ids=[" ".join(words) for words, _ in COMMANDS])
def test_a_command_with_bad_input_says_so_in_a_line(words, said, tmp_path):
    places = {"file": tmp_path / "a.csv", "absent": tmp_path / "none.csv", "loop": tmp_path / "loop"}
    places["file"].write_text("id,title\n1,x\n")
    places["loop"].symlink_to(places["loop"])
    command = [word.format(**places) for word in words]
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode in (1, 2) and said in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
