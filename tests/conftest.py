"""What tests of several folders share: a runner with the simulated GPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.runner.warm import WarmRunner


@pytest.fixture(scope="session")
def lab_runner() -> Iterator[WarmRunner]:
    """A runner with the real lab and its simulated GPU."""
    with WarmRunner(environment={"PROFILE_FIRST_GPU": "simulated"}) as warm:
        yield warm
