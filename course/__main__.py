"""Starts the command line: `profile-first` or `python -m course`."""


def main() -> int:
    from course.cli import main as run

    return run()


if __name__ == "__main__":
    raise SystemExit(main())
