// What the page does beside the terminal: it waits for the font, gives the terminal the keyboard, and says when it ended.
const open = window.onload; // textual.js opens the terminal in it

window.onload = async (event) => {
  // The terminal measures its cells once; a font that comes later would leave it with the cells of another one.
  await Promise.allSettled([
    document.fonts.load("16px 'Roboto Mono'"),
    document.fonts.load("bold 16px 'Roboto Mono'"),
    document.fonts.load("italic 16px 'Roboto Mono'"),
  ]);
  open(event);

  const keyboard = () => document.querySelector("#terminal .xterm-helper-textarea");
  const ended = document.getElementById("ended");
  const start = document.getElementById("start");
  const said = ended.querySelector("p");
  start.hidden = !start.classList.contains("-delay");
  start.onclick = () => location.replace(location.pathname);

  const takeKeyboard = () => {
    if (!ended.hidden || !keyboard()) return;
    // The app is told of the focus by an event, which a field that has it already doesn't send.
    keyboard().blur();
    keyboard().focus();
  };
  const restart = async () => {
    try {
      await fetch(location.pathname, { cache: "no-store" });
      location.reload();
    } catch {
      said.textContent = said.dataset.serverGone;
    }
  };
  document.getElementById("restart").onclick = restart;

  let begun = false;
  const follow = () => {
    const states = document.body.classList;
    if (states.contains("-first-byte") && !begun) {
      begun = true;
      takeKeyboard();
    }
    if (states.contains("-closed") && ended.hidden) {
      ended.hidden = false;
      document.getElementById("opening").hidden = true;
      document.getElementById("restart").focus();
    }
  };
  new MutationObserver(follow).observe(document.body, { attributeFilter: ["class"] });
  follow();
  window.addEventListener("focus", takeKeyboard);
};
