"""What only Jupyter understands becomes comments, and nothing else is touched."""

from __future__ import annotations

import time

import pytest

from grader.magics import as_python


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("%matplotlib inline\nx = 1", "# %matplotlib inline\nx = 1"),
        ("!pip install torch\nx = 1", "# !pip install torch\nx = 1"),
        ("!!ls", "# !!ls"),
        ("x = 1\nx?", "x = 1\n# x?"),
        ("torch.nn.Linear??", "# torch.nn.Linear??"),
        ("?x", "# ?x"),
        ("files = !ls", "# files = !ls"),
        ("t = %timeit -o f()", "# t = %timeit -o f()"),
        ("a, b = !ls", "# a, b = !ls"),
        ("%time y = f()", "y = f()"),
        ("for i in x:\n    %time y = f(i)", "for i in x:\n    y = f(i)"),
        ("if x:\n    !ls\n", "if x:\n    pass  # !ls\n"),
        ("%%time\nx = 1", "# %%time\nx = 1"),
        ("\n%%capture out\nx = 1", "\n# %%capture out\nx = 1"),
        ("%%timeit\nx = 1\n", "# %%timeit\n# x = 1\n"),
        ("%%bash\nls\n  pwd", "# %%bash\n# ls\n#   pwd"),
        ("!pip install \\\n  torch\nx = 1", "# !pip install \\\n#   torch\nx = 1"),
    ],
)
def test_magics_become_comments(source: str, expected: str) -> None:
    python, _ = as_python(source)
    assert python == expected
    compile(python, "cell", "exec")


@pytest.mark.parametrize(
    "source",
    [
        "y = (a\n  % b)",
        "y = a \\\n  % b",
        's = """\n%matplotlib inline\n!ls\n"""',
        "s = '''it's\n!ls'''",
        "print('%d' % 3)  # x?",
        'f("a = !b", c="d?")',
        "x = {\n    'a': 1,  # (\n}\ny = 2",
        "if a != b:\n    c = d if e else f",
        r"s = 'it\'s'; t = '\\'",
        'r"""\n\\"""\nx = 1',
        "async def f():\n    await g()",
    ],
)
def test_python_is_left_alone(source: str) -> None:
    assert as_python(source) == (source, [])


def test_what_was_left_out_is_told_by_its_line() -> None:
    _, left_out = as_python("x = 1\n%load_ext a\n\ny = !ls")
    assert [(each.line, each.text) for each in left_out] == [(2, "%load_ext a"), (4, "y = !ls")]


def test_a_strangers_code_of_any_form_takes_no_longer_than_its_length() -> None:
    began = time.process_time()
    for source in ("(\n" * 200_000, '"""\n' * 200_000, "'" * 1_000_000, "\\\n" * 300_000, "!ls \\\n" * 200_000):
        python, _ = as_python(source)
        assert python.count("\n") == source.count("\n")
    assert time.process_time() - began < 30
