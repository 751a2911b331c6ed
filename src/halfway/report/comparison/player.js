// The clock of the map and its controls: play, pause, seek, speed; system, event and node.
const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 500, 1000];
const nearestSpeed = (wanted) =>
  SPEEDS.reduce((best, one) => (Math.abs(Math.log(one / wanted)) < Math.abs(Math.log(best / wanted))
    ? one : best));
const timeText = (t) => (t < 100 ? `${t.toFixed(t < 10 ? 3 : 2)} s` : `${t.toFixed(1)} s`);

class Player {
  constructor(board, about) {
    Object.assign(this, { board, about, worlds: [], runs: [], views: [] });
    this.seconds = Math.max(...about.replays.map((one) => one.seconds));
    this.t = 0;
    this.shown = about.replays.length > 1 ? -1 : 0; // index of the system; -1: all systems
    this.follow = -1;
    this.chosen = -1;
    this.playing = false;
    this.speed = nearestSpeed(this.seconds / 60);
    this.frames = [];
    const find = (name) => board.querySelector(`.${name}`);
    for (const name of ["views", "play", "range", "clock", "density", "events", "details",
      "receivers", "earlier", "later", "systems"]) this[name] = find(name);
    this.speeds = find("speed");
    this.ink = readInk();
    this.bind();
  }

  async start() {
    const blob = (name) => document.getElementById(name).textContent;
    for (const [k, one] of this.about.worlds.entries()) {
      this.worlds.push(new World(one, await decoded(one, blob(`world-${k}`))));
    }
    for (const [k, one] of this.about.replays.entries()) {
      const columns = await decoded(one, blob(`replay-${k}`));
      this.runs.push(new SystemRun(one, columns, this.worlds[one.world]));
    }
    this.listEvents();
    for (const one of SPEEDS) this.speeds.add(new Option(`${one}×`, String(one)));
    this.show(this.shown);
    this.setSpeed(this.speed);
    this.board.dataset.ready = "yes";
  }

  world() { return (this.runs[Math.max(this.shown, 0)] || this.runs[0]).world; }

  listEvents() {
    const world = this.world(), { columns } = world;
    this.events.replaceChildren(new Option("all events", "-1"));
    columns.event.forEach((event, place) => {
      const when = world.published[place].toFixed(1);
      const name = `event ${event}: topic ${columns.topic[place]}, `
        + `from node ${columns.publisher[place]} at ${when} s`;
      this.events.add(new Option(name, String(place)));
    });
  }

  show(which) {
    this.shown = which;
    const all = which < 0, listed = all ? this.runs.map((_, k) => k) : [which];
    for (const button of this.systems.children) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.system) === which));
    }
    this.views.classList.toggle("all", all);
    this.views.dataset.count = String(listed.length);
    this.shownViews = listed.map((k) => this.panel(k));
    this.views.replaceChildren(...this.shownViews.map((one) => one.figure));
    this.density.getContext("2d");
    this.paintDensity();
    this.updateDetails();
    this.draw();
  }

  panel(k) {
    if (this.views[k]) return this.views[k];
    const run = this.runs[k], figure = document.createElement("figure");
    const canvas = document.createElement("canvas"), caption = document.createElement("figcaption");
    const name = document.createElement("b"), figures = document.createElement("span");
    canvas.setAttribute("role", "img");
    name.textContent = run.about.system;
    caption.append(name, figures);
    figure.append(caption, canvas);
    const view = new View(canvas, run, this.ink);
    canvas.addEventListener("pointermove", (event) => this.point(view, event));
    canvas.addEventListener("click", (event) => this.point(view, event, true));
    return (this.views[k] = { figure, canvas, figures, view, run });
  }

  bind() {
    this.play.addEventListener("click", () => this.toggle());
    const scrub = () => this.seek((this.range.value / 10_000) * this.seconds);
    this.range.addEventListener("input", scrub);
    this.speeds.addEventListener("change", () => this.setSpeed(Number(this.speeds.value)));
    this.events.addEventListener("change", () => this.followEvent(Number(this.events.value)));
    this.earlier.addEventListener("click", () => this.stepEvent(-1));
    this.later.addEventListener("click", () => this.stepEvent(1));
    this.systems.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) this.show(Number(button.dataset.system));
    });
    this.receivers.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      const row = Number(button.dataset.row);
      this.chosen = this.chosen === row ? -1 : row;
      this.updateDetails();
      this.draw();
    });
    this.board.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => { this.paintDensity(); this.draw(); }).observe(this.views);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => {
      Object.assign(this.ink, readInk());
      this.paintDensity();
      this.draw();
    });
    const seen = ([entry]) => { this.unseen = !entry.isIntersecting; };
    new IntersectionObserver(seen).observe(this.board);
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const on = event.target.tagName, typed = event.key;
    const steps = { ArrowLeft: -0.01, ArrowRight: 0.01, PageUp: -0.1, PageDown: 0.1 };
    if (typed === " " && on !== "BUTTON" && on !== "SELECT") this.toggle();
    else if (on === "SELECT") return;
    else if (typed in steps && on !== "INPUT") this.seek(this.t + steps[typed] * this.seconds);
    else if (typed === "Home" && on !== "INPUT") this.seek(0);
    else if (typed === "End" && on !== "INPUT") this.seek(this.seconds);
    else if (typed === "n") this.stepEvent(1);
    else if (typed === "p") this.stepEvent(-1);
    else if (typed === "+" || typed === "-") this.stepSpeed(typed === "+" ? 1 : -1);
    else if (typed === "Escape") this.followEvent(-1);
    else if (/^[0-9]$/.test(typed) && typed <= this.runs.length) this.show(Number(typed) - 1);
    else return;
    event.preventDefault();
  }

  toggle(play = !this.playing) {
    this.playing = play;
    this.play.setAttribute("aria-label", play ? "Pause" : "Play");
    this.play.classList.toggle("playing", play);
    if (play && this.t >= this.seconds) this.seek(0);
    if (!play) return this.draw();
    let before = performance.now();
    const go = (stamp) => {
      if (!this.playing) return;
      const passed = Math.min(0.1, Math.max(0, (stamp - before) / 1000));
      before = stamp;
      if (!this.unseen && !document.hidden) this.advance(passed);
      requestAnimationFrame(go);
    };
    requestAnimationFrame(go);
  }

  advance(passed) {
    this.t = Math.min(this.seconds, this.t + passed * this.speed);
    const begun = performance.now();
    this.draw();
    this.frames.push(performance.now() - begun);
    if (this.frames.length > 600) this.frames.shift();
    const over = this.follow >= 0 && this.t > this.followedUntil;
    if (this.t >= this.seconds || over) this.toggle(false);
  }

  seek(t) {
    this.t = Math.min(this.seconds, Math.max(0, t));
    this.draw();
  }

  setSpeed(speed) {
    this.speed = speed;
    this.speeds.value = String(speed);
    this.draw();
  }

  stepSpeed(by) {
    const place = SPEEDS.indexOf(this.speed) + by;
    this.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, place))]);
  }

  stepEvent(by) {
    const count = this.world().published.length;
    if (count) this.followEvent(Math.min(count - 1, Math.max(-1, this.follow + by)));
  }

  // Follow one event: from just before its publication, slowly enough to see its spread.
  followEvent(place) {
    const free = this.follow < 0;
    if (free) this.speedBefore = this.speed;
    this.follow = place;
    this.chosen = -1;
    this.events.value = String(place);
    if (place >= 0) {
      const ends = this.shownViews.map(({ run }) => run.spreadOf(place).last);
      const begin = this.world().published[place], end = Math.max(...ends);
      // Between the speeds that suit the fastest and the slowest system.
      const spreads = ends.map((one) => Math.max(one - begin, 1e-3));
      const middle = spreads.reduce((sum, one) => sum + Math.log(one), 0) / spreads.length;
      this.setSpeed(nearestSpeed(Math.exp(middle) / 6));
      this.followedUntil = Math.min(this.seconds, end + SHOWN_S * this.speed);
      this.t = Math.max(0, begin - 0.5 * SHOWN_S * this.speed);
    } else if (!free) this.setSpeed(this.speedBefore);
    this.updateDetails();
    this.draw();
  }

  draw() {
    if (!this.shownViews) return;
    const { t, speed, follow, chosen } = this;
    for (const { view, figures, run, canvas } of this.shownViews) {
      view.paint({ t, speed, follow, chosen, still: !this.playing });
      const { sent, delivered, expected } = run.figures(t);
      const share = expected ? ` (${Math.floor((100 * delivered) / expected)} %)` : "";
      const text = `${sent.toLocaleString("en")} sent · `
        + `${delivered} of ${expected} delivered${share}`;
      if (figures.textContent !== text) figures.textContent = text;
      const label = `${run.about.system} at ${timeText(t)}: ${text}`;
      if (!this.playing) canvas.setAttribute("aria-label", label);
    }
    this.range.value = String(Math.round((t / this.seconds) * 10_000));
    this.range.setAttribute("aria-valuetext", timeText(t));
    this.clock.textContent = timeText(t);
    this.markReceivers();
  }
}

const readInk = () => {
  const style = getComputedStyle(document.querySelector(".board"));
  const value = (name) => style.getPropertyValue(`--${name}`).trim();
  const ink = { name: value("ink") };
  for (const name of ["link", "node", "text", "halo", "event", "walk", "overlay", "other", "good",
    "bad", "met"]) ink[name] = value(`map-${name}`);
  ink.walks = [value("map-walk"), value("map-walk-2"), value("map-overlay")];
  ink.regions = value("map-regions").split(" ");
  return ink;
};
