// Run before textual.js, which reads the address of the WebSocket from the page when the page is complete:
// it is that of the page itself, whatever name or tunnel it was reached by.
document.addEventListener("DOMContentLoaded", () => {
  const socket = new URL("ws", location.href);
  socket.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  socket.search = "";
  document.getElementById("terminal").dataset.sessionWebsocketUrl = socket.href;
});
