// Without this, every table and plot is there already; only the map needs it.
const board = document.querySelector(".board");
if (board) {
  board.hidden = false;
  const player = new Player(board, JSON.parse(document.getElementById("replays").textContent));
  window.halfway = player; // for whoever wants to drive it from a console
  player.start().catch((error) => {
    board.replaceChildren(paragraph(`The map cannot be shown here: ${error.message}`));
    throw error;
  });
}
