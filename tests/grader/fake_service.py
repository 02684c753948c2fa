"""The service with the fake lab, for the tests of the client. `python -m tests.grader.fake_service`."""

from grader.service import serve
from tests.grader.conftest import fake_runner

serve(fake_runner())
