"""What can go wrong in the grader itself, as opposed to in a submission."""


class GraderError(Exception):
    """The message says what is wrong and what to do."""


class UnknownExercise(GraderError):
    """There are no checks or questions under this id."""


class GradedByInstructor(GraderError):
    """This copy of the course came without what is needed to grade it."""


class SubmissionNotFound(GraderError):
    """There is no file to check."""


class SeedOutOfRange(GraderError):
    """A seed that no verdict can have."""


class CheckFault(GraderError):
    """The checks of an exercise are themselves broken."""


class Cancelled(GraderError):
    """The request was cancelled before it was done."""


class RunnerUnavailable(GraderError):
    """The process that runs submissions can't be started."""


class ServiceDied(GraderError):
    """The grader's process ended while it was needed."""
