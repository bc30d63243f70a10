"""A pytest plug-in that keeps Hypothesis from simplifying failing examples, which takes longest."""

import hypothesis


def pytest_configure() -> None:
    """After conftest.py has chosen a profile, before tests take it over."""
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("no-shrinking", hypothesis.settings.default, phases=phases)
    hypothesis.settings.load_profile("no-shrinking")
