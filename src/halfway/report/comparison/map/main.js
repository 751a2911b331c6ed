// The map alone needs scripts; tables and plots do not.
const board = document.querySelector(".board");
if (board) {
  board.hidden = false;
  board.inert = true; // until the runs are unpacked
  const player = new Player(board, JSON.parse(document.getElementById("replays").textContent));
  window.halfway = player; // for use from the console
  player.start().catch((error) => {
    board.replaceChildren(paragraph(`The map cannot be shown: ${error.message}`));
    throw error;
  }).finally(() => { board.inert = false; });
}
