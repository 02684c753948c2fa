"""The line at the top of every screen: where one is, and which GPU the code runs on."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

if TYPE_CHECKING:
    from course.app.app import CourseApp


class CourseHeader(Widget):
    """One line: the place at the left, the GPU at the right."""

    DEFAULT_CSS = """
    CourseHeader { dock: top; height: 1; background: $surface; padding: 0 1; }
    """

    place = reactive(Content(""))
    """Where one is."""
    gpu = reactive("")
    """The GPU in use, in words."""

    def on_mount(self) -> None:
        # Not by watching the app, which would keep the headers of all screens that ever were.
        self.gpu = cast("CourseApp", self.app).gpu_in_words

    def render(self) -> Content:
        width = self.content_size.width
        gpu = Content.styled(self.gpu, "$text-secondary").truncate(max(width // 2, 20), ellipsis=True)
        room = max(width - gpu.cell_length - 2, 0)
        place = self.place.truncate(room, ellipsis=True)
        return Content.assemble(place, " " * max(width - place.cell_length - gpu.cell_length, 0), gpu)
