"""The keys that matter on this screen, in one line at the bottom.

Textual's footer is a widget for each key, all of which are made anew when one changes; that alone is a third of what it
costs to go from card to card.
"""

from __future__ import annotations

from typing import NamedTuple

from textual import events
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from lab.language import _

LINE = "▏"


class FooterKey(NamedTuple):
    """A key, and what it does."""

    key: str
    display: str
    description: str
    tooltip: str
    enabled: bool

    @property
    def width(self) -> int:
        return Content(f" {self.display} {self.description} ").cell_length


class CourseFooter(Widget, can_focus=False):
    """The keys; each can be clicked."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    CourseFooter {
        dock: bottom; width: 100%; height: 1;
        color: $footer-foreground; background: $footer-background;
    }
    """

    keys: tuple[FooterKey, ...] = ()
    """From the left to the right."""
    left_out: tuple[FooterKey, ...] = ()
    """What leaves no room for the palette; the help has it all the same."""
    palette: FooterKey | None = None
    """The key of the command palette, at the right end."""
    _under_mouse: FooterKey | None = None

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)

    def _bindings_changed(self, screen: Screen[object]) -> None:
        if screen.app.app_focus and screen is self.screen:
            self._read_bindings()

    def on_resize(self) -> None:
        self._read_bindings()

    def _read_bindings(self) -> None:
        shown: dict[str, FooterKey] = {}
        palette = None
        for _node, binding, enabled, tooltip in self.screen.active_bindings.values():
            key = FooterKey(
                binding.key,
                _(self.app.get_key_display(binding)),
                _(binding.description),
                _(tooltip or binding.tooltip or binding.description),
                enabled,
            )
            if binding.key == self.app.COMMAND_PALETTE_BINDING:
                palette = key
            elif binding.show:
                shown.setdefault(binding.action, key)
        room = self.size.width - (palette.width + len(LINE) if palette else 0)
        every = tuple(shown.values())
        count = len(every)
        while count and sum(key.width for key in every[:count]) > room:
            count -= 1
        if (self.keys, self.left_out, self.palette) != (every[:count], every[count:], palette):
            self.keys, self.left_out, self.palette = every[:count], every[count:], palette
            self.refresh()

    def render(self) -> Content:
        left = Content("").join(map(self._shown, self.keys))
        if self.palette is None:
            return left
        right = Content.styled(LINE, "$foreground 20%") + self._shown(self.palette)
        return left + " " * max(self.size.width - left.cell_length - right.cell_length, 0) + right

    def _shown(self, key: FooterKey) -> Content:
        style = "bold $footer-key-foreground" if key.enabled else "$footer-key-foreground 50%"
        words = f" {key.description} " if key.enabled else (f" {key.description} ", "$footer-foreground 50%")
        content = Content.assemble((f" {key.display}", style), words)
        return content.stylize("on $primary 25%") if key is self._under_mouse else content

    def _at(self, x: int) -> FooterKey | None:
        """The key at a column."""
        if self.palette is not None and x >= self.size.width - self.palette.width:
            return self.palette
        for key in self.keys:
            x -= key.width
            if x < 0:
                return key
        return None

    def on_click(self, event: events.Click) -> None:
        key = self._at(event.x)
        if key is not None and key.enabled:
            self.app.simulate_key(key.key)
        elif key is not None:
            self.app.bell()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._point_at(self._at(event.x))

    def on_leave(self) -> None:
        self._point_at(None)

    def _point_at(self, key: FooterKey | None) -> None:
        if key is not self._under_mouse:
            self._under_mouse = key
            self.tooltip = key.tooltip if key else None
            self.refresh()
