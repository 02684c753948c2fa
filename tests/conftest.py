"""What tests of several folders share: a runner with the simulated GPU, and how random cases are drawn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from grader.runner.warm import WarmRunner

# Random cases are the same in each run: a test that fails today failed yesterday.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-snapshots", action="store_true", help="keep the pictures of the screens as they are now")
    parser.addoption("--long", action="store_true", help="run the tests that take minutes as well")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long"):
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason="takes minutes: --long runs it"))


@pytest.fixture(scope="session")
def lab_runner() -> Iterator[WarmRunner]:
    """A runner with the real lab and its simulated GPU."""
    with WarmRunner(environment={"PROFILE_FIRST_GPU": "simulated"}) as warm:
        yield warm
