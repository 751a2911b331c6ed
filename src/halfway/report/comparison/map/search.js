// Search of nodes by name: matches are marked while one types; Enter chooses the best one.
Player.prototype.bindSearch = function () {
  const { find } = this;
  find.addEventListener("input", () => this.search(find.value));
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && find.value.trim()) this.chooseFound();
    else if (event.key === "Escape") this.clearSearch();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
};

Player.prototype.listNames = function () {
  const world = this.world(), list = this.board.querySelector("#node-names");
  list.replaceChildren(...Array.from({ length: world.n }, (_, row) => new Option("", world.name(row))));
};

Player.prototype.search = function (text) {
  this.found = this.world().search(text);
  const count = this.found.length;
  const said = count === 1 ? "1 node matches" : `${count} nodes match`;
  this.matches.textContent = !text.trim() ? ""
    : count ? `${said}. Enter chooses the first.` : `No node has “${text.trim()}” in its name.`;
  this.draw();
};

Player.prototype.chooseFound = function () {
  const [row] = this.world().search(this.find.value);
  if (row === undefined) return;
  this.find.value = this.world().name(row);
  this.found = [];
  this.choose(row);
  if (!this.camera.whole) this.camera.showPoint(this.world(), this.world().x[row], this.world().y[row]);
  this.matches.textContent = `${this.world().title(row)} is marked.`;
};

Player.prototype.clearSearch = function () {
  this.find.value = "";
  this.found = [];
  this.matches.textContent = "";
  this.choose(-1);
};
