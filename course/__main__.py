"""Starts the command line: `profile-first` or `python -m course`."""


def main() -> int:
    try:
        from course.cli import main as run
    except KeyboardInterrupt:
        return 130
    return run()


if __name__ == "__main__":
    raise SystemExit(main())
