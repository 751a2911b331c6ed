// The clock of the map and what it shows: time, speed, system, event, node.
const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 500, 1000];
const CALM_STEP_S = 0.5; // between two pictures where the viewer asked for reduced motion
const nearestSpeed = (wanted) =>
  SPEEDS.reduce((best, one) => (Math.abs(Math.log(one / wanted)) < Math.abs(Math.log(best / wanted))
    ? one : best));
const timeText = (t) => (t < 100 ? `${t.toFixed(t < 10 ? 3 : 2)} s` : `${t.toFixed(1)} s`);

class Player {
  constructor(board, about) {
    Object.assign(this, { board, about, worlds: [], runs: [], panels: [], found: [] });
    this.seconds = Math.max(...about.replays.map((one) => one.seconds));
    this.t = 0;
    this.shown = about.replays.length > 1 ? -1 : 0; // index of the system; -1: all systems
    this.follow = -1;
    this.chosen = -1;
    this.playing = false;
    this.speed = nearestSpeed(this.seconds / 60);
    this.frames = [];
    this.camera = new Camera(() => this.redraw());
    const find = (name) => board.querySelector(`.${name}`);
    for (const name of ["views", "play", "range", "clock", "density", "events", "details", "node",
      "receivers", "earlier", "later", "systems", "signs", "find", "matches", "help", "message"]) {
      this[name] = find(name);
    }
    [this.speeds, this.begins, this.filmButton] = ["speed", "begin", "film"].map(find);
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
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
    // Without runs there is nothing to draw, so no event is heard before.
    this.ink = readInk();
    this.bind();
    this.bindSearch();
    this.styleWalks();
    const { wide, high } = this.world();
    const aspect = Math.min(1.9, Math.max(0.75, (1.04 * wide) / high + 0.04)); // of a panel
    this.views.style.setProperty("--aspect", aspect.toFixed(3));
    this.listEvents();
    this.listNames();
    for (const one of SPEEDS) this.speeds.add(new Option(`${one}×`, String(one)));
    this.show(this.shown);
    this.setSpeed(this.speed);
    this.seek(this.beginTime());
    this.goTo(location.hash);
    this.lastLink = this.link();
    this.board.dataset.ready = "yes";
  }

  world() { return (this.runs[Math.max(this.shown, 0)] || this.runs[0]).world; }

  // One style a label, whatever the system; labels that several systems share come first.
  styleWalks() {
    const labels = this.runs.flatMap((run) => run.labels), count = new Map();
    for (const label of labels) count.set(label, (count.get(label) ?? 0) + 1);
    const order = [...count.keys()].sort((a, b) => count.get(b) - count.get(a));
    for (const run of this.runs) run.styles = run.labels.map((label) => order.indexOf(label));
  }

  listEvents() {
    const world = this.world(), { columns } = world;
    this.events.replaceChildren(new Option("all events", "-1"));
    columns.event.forEach((event, place) => {
      const when = world.published[place].toFixed(1);
      const name = `event ${event}: topic ${columns.topic[place]}, `
        + `from ${world.title(columns.publisher[place])} at ${when} s`;
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
    this.paintDensity();
    this.update();
  }

  panel(k) {
    if (this.panels[k]) return this.panels[k];
    const run = this.runs[k], figure = document.createElement("figure");
    const canvas = document.createElement("canvas"), caption = document.createElement("figcaption");
    const name = document.createElement("button"), figures = document.createElement("span");
    canvas.setAttribute("role", "img");
    name.type = "button";
    name.className = "alone";
    name.textContent = run.about.system;
    name.title = "Show this system alone, or all systems";
    name.addEventListener("click", () => this.show(this.shown === k && this.runs.length > 1 ? -1 : k));
    caption.append(name, figures);
    figure.append(caption, canvas);
    const view = new View(canvas, run, this.ink), gestures = new Gestures(this, view, canvas);
    canvas.addEventListener("pointermove", (event) => this.point(view, event));
    canvas.addEventListener("click", (event) => gestures.dragged || this.point(view, event, true));
    return (this.panels[k] = { figure, canvas, figures, view, run });
  }

  // The time at which play begins: of the followed event, of the first publication, or 0.
  beginTime() {
    const world = this.world(), first = this.follow >= 0 ? this.follow : 0;
    if (!world.published.length || (this.follow < 0 && !this.fromEvent)) return 0;
    return Math.max(0, world.published[first] - 0.5 * SHOWN_S * this.speed);
  }

  get fromEvent() { return this.begins.value === "event"; }

  toggle(play = !this.playing) {
    const over = this.follow >= 0 && this.t >= this.followedUntil;
    this.playing = play;
    this.play.setAttribute("aria-label", play ? "Pause" : "Play");
    this.play.classList.toggle("playing", play);
    if (play && (this.t >= this.seconds || over)) this.seek(this.beginTime());
    if (!play) return this.draw();
    let before = performance.now(), waited = 0;
    const go = (stamp) => {
      if (!this.playing) return;
      const most = this.film ? 1 : 0.1; // a film keeps its speed where pictures take long
      const passed = Math.min(most, Math.max(0, (stamp - before) / 1000));
      before = stamp;
      const calm = this.calm.matches && !this.film;
      if (this.film || (!this.unseen && !document.hidden)) waited += passed;
      if (waited > 0 && (!calm || waited >= CALM_STEP_S)) {
        this.advance(waited);
        waited = 0;
      }
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
    if (this.t < this.seconds && !over) return;
    this.toggle(false);
    this.updateNode();
    this.film?.stop();
  }

  seek(t) {
    this.t = Math.min(this.seconds, Math.max(0, t));
    this.draw();
    this.updateNode();
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
    this.events.value = String(place);
    if (place >= 0) {
      const ends = this.shownViews.map(({ run }) => run.spreadOf(place).last);
      const begin = this.world().published[place], end = Math.max(...ends);
      // Between the speeds that suit the fastest and the slowest system.
      const spreads = ends.map((one) => Math.max(one - begin, 1e-3));
      const middle = spreads.reduce((sum, one) => sum + Math.log(one), 0) / spreads.length;
      this.setSpeed(nearestSpeed(Math.exp(middle) / 6));
      this.followedUntil = Math.min(this.seconds, end + SHOWN_S * this.speed);
      this.t = this.beginTime();
    } else if (!free) this.setSpeed(this.speedBefore);
    this.update();
  }

  // Mark a node on all panels; -1: none.
  choose(row) {
    this.chosen = row;
    this.update();
  }

  update() {
    this.updateDetails();
    this.draw();
    this.updateNode();
    this.updateLegend();
  }

  now() {
    const { t, speed, follow, chosen, camera, found } = this;
    return { t, speed, follow, chosen, camera, found, still: !this.playing };
  }

  // Draw before the next picture of the browser, once for however many changes.
  redraw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  }

  draw() {
    const { t } = this;
    for (const { view, figures, run, canvas } of this.shownViews) {
      view.paint(this.now());
      canvas.classList.toggle("zoomed", !this.camera.whole);
      const { sent, delivered, expected } = run.figures(t);
      const share = expected ? ` (${Math.floor((100 * delivered) / expected)}\u00a0%)` : "";
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
    this.film?.paint();
    this.noteLink();
  }
}

const readInk = () => {
  const style = getComputedStyle(document.querySelector(".board"));
  const value = (name) => style.getPropertyValue(`--${name}`).trim();
  const ink = { name: value("ink"), card: value("card"), soft: value("soft") };
  for (const name of ["link", "node", "text", "halo", "event", "walk", "overlay", "other", "good",
    "bad", "met"]) ink[name] = value(`map-${name}`);
  for (const name of ["walks", "regions"]) ink[name] = value(`map-${name}`).split(" ");
  return ink;
};
