// Buttons and keys of the map, and the overlay that lists the keys.
const SYSTEM_KEYS = "123456789abcdeghijkmoqrtuvwxyz"; // without f, l, n, p, s
const MESSAGE_MS = 12_000;
const ZOOM_STEP = 1.5, PAN_STEP = 0.15; // of a panel's width

Player.prototype.bind = function () {
  const on = (name, act, event = "click") =>
    this.board.querySelector(`.${name}`).addEventListener(event, act);
  on("play", () => this.toggle());
  on("range", () => this.seek((this.range.value / 10_000) * this.seconds), "input");
  on("speed", () => this.setSpeed(Number(this.speeds.value)), "change");
  on("begin", () => this.seek(this.beginTime()), "change");
  on("events", () => this.followEvent(Number(this.events.value)), "change");
  on("earlier", () => this.stepEvent(-1));
  on("later", () => this.stepEvent(1));
  on("zoom-in", () => this.zoom(ZOOM_STEP));
  on("zoom-out", () => this.zoom(1 / ZOOM_STEP));
  on("zoom-all", () => this.camera.set(1, 0.5, 0.5));
  on("link", () => this.copyLink());
  on("save", () => this.saveSvg());
  on("film", () => this.toggleFilm());
  on("keys", () => this.showHelp());
  on("close", () => this.help.close());
  on("systems", (event) => {
    const button = event.target.closest("button");
    if (button) this.show(Number(button.dataset.system));
  });
  for (const name of ["receivers", "node"]) {
    on(name, (event) => {
      const button = event.target.closest("button[data-row]");
      if (!button) return;
      const row = Number(button.dataset.row);
      this.choose(this.chosen === row ? -1 : row);
    });
  }
  [...this.systems.children].forEach((button) => {
    const key = this.systemKey(Number(button.dataset.system));
    if (!key) return;
    button.setAttribute("aria-keyshortcuts", key);
    button.title = `key ${key}`;
  });
  this.board.addEventListener("keydown", (event) => this.key(event));
  window.addEventListener("hashchange", () => this.goTo(location.hash));
  const resized = new ResizeObserver(() => {
    this.board.style.setProperty("--bar", `${this.systems.offsetHeight}px`); // sticks above the rest
    this.paintDensity();
    this.draw();
  });
  for (const one of [this.views, this.systems]) resized.observe(one);
  for (const media of ["(prefers-color-scheme: dark)", "print"]) { // paper is always light
    matchMedia(media).addEventListener("change", () => {
      Object.assign(this.ink, readInk());
      this.paintDensity();
      this.draw();
      this.updateLegend();
    });
  }
  const seen = ([entry]) => { this.unseen = !entry.isIntersecting; };
  new IntersectionObserver(seen).observe(this.board);
};

// The key of a system: 0 for all, then digits, then letters.
Player.prototype.systemKey = (system) => (system < 0 ? "0" : SYSTEM_KEYS[system] ?? "");

Player.prototype.key = function (event) {
  if (event.ctrlKey || event.altKey || event.metaKey || this.help.open) return;
  const { tagName, type } = event.target, typed = event.key;
  if (tagName === "SELECT" || type === "search") return;
  const act = this.actionOf(typed, event.shiftKey, tagName);
  if (!act) return;
  act();
  event.preventDefault();
};

Player.prototype.actionOf = function (typed, shift, tagName) {
  const steps = { ArrowLeft: -0.01, ArrowRight: 0.01, PageUp: -0.1, PageDown: 0.1 };
  const pans = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  if (shift && typed in pans) return () => this.pan(...pans[typed]);
  if (tagName !== "INPUT") { // the time slider has these keys itself
    if (typed in steps) return () => this.seek(this.t + steps[typed] * this.seconds);
    if (typed === "Home") return () => this.seek(this.t > this.beginTime() ? this.beginTime() : 0);
    if (typed === "End") return () => this.seek(this.seconds);
  }
  const act = {
    " ": tagName === "BUTTON" ? undefined : () => this.toggle(),
    n: () => this.stepEvent(1), p: () => this.stepEvent(-1),
    "<": () => this.stepSpeed(-1), ">": () => this.stepSpeed(1),
    "+": () => this.zoom(ZOOM_STEP), "=": () => this.zoom(ZOOM_STEP),
    "-": () => this.zoom(1 / ZOOM_STEP), "*": () => this.camera.set(1, 0.5, 0.5),
    "[": () => this.stepSystem(-1), "]": () => this.stepSystem(1),
    "/": () => this.find.focus(), f: () => this.find.focus(),
    l: () => this.copyLink(), s: () => this.saveSvg(), "?": () => this.showHelp(),
    Escape: () => this.release(),
  }[typed];
  if (act) return act;
  const system = typed === "0" ? -1 : SYSTEM_KEYS.indexOf(typed);
  const known = typed.length === 1 && (typed === "0" || system >= 0) && system < this.runs.length;
  return known ? () => this.show(this.runs.length > 1 ? system : 0) : undefined;
};

Player.prototype.stepSystem = function (by) {
  const first = this.runs.length > 1 ? -1 : 0;
  this.show(Math.min(this.runs.length - 1, Math.max(first, this.shown + by)));
};

// Zoom about the chosen node where there is one, else about the middle.
Player.prototype.zoom = function (factor) {
  const { camera } = this, world = this.world(), first = camera.whole && this.chosen >= 0;
  if (first && factor > 1) camera.showPoint(world, world.x[this.chosen], world.y[this.chosen], factor);
  else camera.set(camera.zoom * factor);
};

Player.prototype.pan = function (across, along) {
  const { view } = this.shownViews[0];
  this.camera.panBy(view, across * PAN_STEP * view.wide, along * PAN_STEP * view.high);
};

// Escape: first the followed event, then the marked node, then the zoom.
Player.prototype.release = function () {
  if (this.follow >= 0) this.followEvent(-1);
  else if (this.chosen >= 0 || this.found.length) this.clearSearch();
  else this.camera.set(1, 0.5, 0.5);
};

// A message beside the controls; it leaves after a while, unless a film is recorded.
Player.prototype.say = function (text) {
  this.message.textContent = text;
  clearTimeout(this.said);
  this.said = setTimeout(() => { if (!this.film) this.message.textContent = ""; }, MESSAGE_MS);
};

Player.prototype.showHelp = function () {
  const list = this.help.querySelector(".system-keys");
  list.replaceChildren(...[...this.systems.children].map((button) => {
    const item = document.createElement("li"), key = document.createElement("kbd");
    key.textContent = this.systemKey(Number(button.dataset.system)) || "[ ]";
    item.append(key, ` ${button.textContent.trim()}`);
    return item;
  }));
  this.help.showModal();
};
