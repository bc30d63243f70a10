"""What is promised to stay until the next major version: tests/crowder/stable.yml, as CONTRIBUTING.md explains it.

The file lists every stable name with its parameters as `inspect` tells them. A name may gain optional parameters; it
may not go, nor lose, rename or reorder what callers use. After an addition `python tests/crowder/test_stable.py` writes
the list anew, and its change is reviewed like any other.
"""

import importlib
import inspect
from pathlib import Path

import pytest
import yaml

import crowder as cr

LIST = Path(__file__).with_name("stable.yml")


def parameters(thing):
    """Name, kind and optionality, as in a definition: ``x``, ``x=``, ``*``, ``*names``, ``**names``."""
    listed, star = [], False
    for p in inspect.signature(thing).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not star:
            listed.append("*")
            star = True
        mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        star = star or mark == "*"
        listed.append(mark + p.name + ("=" if p.default is not p.empty else ""))
    return [name for name in listed if name != "self"]


def public():
    """Every stable name: functions, classes and their methods, in `crowder` and in its public modules."""
    found = {}

    def add(name, thing):
        if inspect.isclass(thing):
            found[name] = parameters(thing)
            for method, member in inspect.getmembers(thing, callable):
                ours = (getattr(member, "__module__", None) or "").startswith("crowder")  # not those of a tuple
                if ours and not method.startswith("_"):
                    found[f"{name}.{method}"] = parameters(member)
        elif callable(thing):
            found[name] = parameters(thing)

    for name in cr.__all__:
        thing = getattr(cr, name)
        if inspect.ismodule(thing):
            for inner in thing.__all__:
                add(f"{name}.{inner}", getattr(thing, inner))
        else:
            add(name, thing)
    return found


def kept(promised, now):
    """Whether every call that was right with the promised parameters is right with those of now."""

    def split(listed):
        at = next((i for i, name in enumerate(listed) if name.startswith("*")), len(listed))
        return listed[:at], listed[at:]

    (before, before_named), (after, after_named) = split(promised), split(now)
    if [n.rstrip("=") for n in after[: len(before)]] != [n.rstrip("=") for n in before]:
        return False  # gone, renamed or moved
    if any(b.endswith("=") and not a.endswith("=") for b, a in zip(before, after, strict=False)):
        return False  # needed now
    if any(not name.endswith("=") for name in after[len(before) :]):
        return False  # new, and needed
    by_name = {n.rstrip("="): n.endswith("=") or n.startswith("*") for n in after + after_named}
    for name in before_named:
        if name == "*":
            continue
        if name.rstrip("=") not in by_name or (name.endswith("=") and not by_name[name.rstrip("=")]):
            return False
    new = {n for n in after_named if n.rstrip("=") not in {m.rstrip("=") for m in before_named + before}}
    return all(n.endswith("=") or n.startswith("*") for n in new)


PROMISED = yaml.safe_load(LIST.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(PROMISED))
def test_what_was_promised_is_kept(name):
    now = public()
    assert name in now, f"{name} was stable, and is gone"
    assert kept(PROMISED[name], now[name]), f"{name} was called with {PROMISED[name]}, now {now[name]}"


def test_the_list_names_everything_that_is_public():
    assert sorted(set(public()) - set(PROMISED)) == []


@pytest.mark.parametrize(
    ("before", "after", "holds"),
    [
        (["x", "*", "rng="], ["x", "*", "rng=", "budget="], True),
        (["x", "*", "rng="], ["x", "y=", "*", "rng="], True),
        (["x", "*", "rng="], ["x", "y", "*", "rng="], False),  # a second argument is needed now
        (["x", "*", "rng="], ["x", "*", "rng"], False),
        (["x", "*", "rng="], ["x", "*", "seed="], False),
        (["x", "y="], ["y=", "x="], False),  # another order
        (["x", "y="], ["x", "*", "y="], False),  # no longer by position
        (["x", "*", "y="], ["x", "y="], True),
        (["*names"], ["*names", "end="], True),
        (["x"], ["x", "*", "end"], False),
    ],
)
def test_what_keeping_means(before, after, holds):
    assert kept(before, after) is holds


def test_one_version_is_stated_everywhere():
    project = importlib.import_module("tomllib").loads((LIST.parents[2] / "pyproject.toml").read_text())["project"]
    assert cr.__version__ == project["version"]


if __name__ == "__main__":
    LIST.write_text(yaml.safe_dump(public(), sort_keys=True, default_flow_style=None, width=120), encoding="utf-8")
