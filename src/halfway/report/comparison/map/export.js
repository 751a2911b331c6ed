// The view as an SVG file, and the run as a film.
const FILM_TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];
const FILM_RATE = 30; // pictures a second
const CAPTION_HIGH = 26, SHEET_EDGE = 14, ROW_HIGH = 26;

// Where a sheet with all shown panels has its parts: as on the page.
Player.prototype.sheet = function () {
  const boxes = this.shownViews.map(({ canvas }) => canvas.getBoundingClientRect());
  const left = Math.min(...boxes.map((box) => box.left)) - SHEET_EDGE;
  const top = Math.min(...boxes.map((box) => box.top)) - CAPTION_HIGH - ROW_HIGH - SHEET_EDGE;
  const panels = this.shownViews.map((shown, k) => ({
    ...shown, x: boxes[k].left - left, y: boxes[k].top - top, wide: boxes[k].width,
    high: boxes[k].height,
  }));
  const wide = Math.max(...panels.map((one) => one.x + one.wide)) + SHEET_EDGE;
  const high = Math.max(...panels.map((one) => one.y + one.high)) + SHEET_EDGE;
  return { panels, wide, high };
};

// The title, the time, and the caption of each panel.
Player.prototype.paintWords = function (ctx, { panels, wide }) {
  const write = (text, x, y, font, align = "left", colour = this.ink.text) => {
    Object.assign(ctx, { font: `${font} system-ui,sans-serif`, textAlign: align, fillStyle: colour });
    ctx.fillText(text, x, y);
  };
  ctx.textBaseline = "middle";
  const followed = this.follow < 0 ? "" : `event ${this.world().columns.event[this.follow]}, `;
  write(this.about.title, SHEET_EDGE, SHEET_EDGE + 8, "bold 15px");
  write(followed + timeText(this.t), wide - SHEET_EDGE, SHEET_EDGE + 8, "13px", "right");
  for (const { run, figures, x, y, wide: across } of panels) {
    const narrow = across < 340; // two lines
    write(run.about.system, x, y - (narrow ? 22 : 10), "bold 12px");
    if (narrow) write(figures.textContent, x, y - 9, "10px", "left", this.ink.soft);
    else write(figures.textContent, x + across, y - 10, "12px", "right",
      this.ink.soft);
  }
};

Player.prototype.saveSvg = function () {
  const sheet = this.sheet(), { panels, wide } = sheet, words = new SvgCanvas(wide, sheet.high);
  const root = document.createElementNS(SVG_SPACE(), "svg");
  const put = (name, attributes, ...inside) => {
    const made = document.createElementNS(SVG_SPACE(), name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
  };
  this.paintWords(words.ctx, sheet);
  const drawn = panels.map(({ run, x, y, wide: width, high: height }) => {
    const canvas = new SvgCanvas(width, height);
    const view = new View(canvas, run, this.ink, () => new SvgCanvas());
    view.paint({ ...this.now(), still: true });
    return put("svg", { x, y, width, height, overflow: "hidden" }, ...canvas.nodes);
  });
  const legend = this.svgLegend(wide, sheet.high, put);
  const high = sheet.high + legend.high;
  const size = { width: Math.ceil(wide), height: Math.ceil(high) };
  for (const [key, value] of Object.entries({ ...size, viewBox: `0 0 ${size.width} ${size.height}` })) {
    root.setAttribute(key, value);
  }
  root.append(put("title", {}, `${this.about.title}, ${timeText(this.t)}`),
    put("rect", { ...size, fill: this.ink.card }), ...words.nodes, ...drawn, legend.part);
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(root)}`;
  this.save(new Blob([text], { type: "image/svg+xml" }), `${this.fileName()}.svg`);
};

Player.prototype.svgLegend = function (wide, top, put) {
  const part = put("g", { transform: `translate(${SHEET_EDGE} ${top})` });
  let x = 0, y = 0;
  for (const { text, draw } of this.legendNow()) {
    const sign = new SvgCanvas(SIGN_WIDE, SIGN_HIGH), { ctx } = sign;
    draw(ctx, this.ink);
    const before = sign.nodes.length;
    Object.assign(ctx, { fillStyle: this.ink.soft, font: "12px system-ui,sans-serif",
      textAlign: "left", textBaseline: "middle", globalAlpha: 1 });
    ctx.fillText(text, SIGN_WIDE + 6, SIGN_HIGH / 2);
    const across = SIGN_WIDE + 6 + ctx.measureText(text).width + 22;
    if (x > 0 && x + across > wide - 2 * SHEET_EDGE) [x, y] = [0, y + SIGN_HIGH + 4];
    if (before || text) part.append(put("g", { transform: `translate(${x} ${y})` }, ...sign.nodes));
    x += across;
  }
  return { part, high: y + SIGN_HIGH + SHEET_EDGE };
};

Player.prototype.fileName = function () {
  const system = this.shown < 0 ? "all" : this.runs[this.shown].about.system;
  const plain = (text) => text.replace(/[^\p{L}\p{N}.-]+/gu, "-").replace(/^[-.]+|-+$/g, "").slice(0, 60);
  return [this.about.title, system, `${this.t.toFixed(2)}s`].map(plain).filter(Boolean).join("-");
};

Player.prototype.save = function (blob, name) {
  const link = document.createElement("a"), url = URL.createObjectURL(blob);
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  this.say(`Saved ${name} (${(blob.size / 1e6).toFixed(2)} MB).`);
};

// Record from the beginning to the end, or until the button is pressed again.
Player.prototype.toggleFilm = function () {
  if (this.film) return this.film.stop();
  const records = window.MediaRecorder && HTMLCanvasElement.prototype.captureStream;
  const type = records && FILM_TYPES.find((one) => MediaRecorder.isTypeSupported(one));
  if (!type) {
    this.say("This browser cannot record a film, because it has no MediaRecorder for WebM or MP4. "
      + "Firefox and Chromium have one. You can save an SVG file of each moment instead.");
    return undefined;
  }
  return (this.film = new Film(this, type));
};

class Film {
  constructor(player, type) {
    Object.assign(this, { player, type, sheet: player.sheet(), chunks: [] });
    this.canvas = document.createElement("canvas");
    this.sharp = this.sheet.wide > 900 ? 1 : 2;
    const even = (size) => 2 * Math.ceil((size * this.sharp) / 2); // codecs want even sizes
    this.canvas.width = even(this.sheet.wide);
    this.canvas.height = even(this.sheet.high);
    this.canvas.getContext("2d"); // Firefox records no canvas without a context
    this.recorder = new MediaRecorder(this.canvas.captureStream(FILM_RATE), {
      mimeType: type, videoBitsPerSecond: 8_000_000,
    });
    this.recorder.ondataavailable = ({ data }) => { if (data.size) this.chunks.push(data); };
    this.recorder.onerror = ({ error }) => this.end(`The film failed: ${error?.message ?? "unknown"}`);
    this.recorder.onstop = () => this.saved();
    player.toggle(false);
    player.seek(player.beginTime());
    this.paint();
    this.recorder.start(1000);
    const until = player.follow < 0 ? player.seconds : player.followedUntil;
    const long = Math.ceil((until - player.t) / player.speed);
    player.filmButton.textContent = "Stop and save";
    player.say(`Recording about ${long} s at the chosen speed. Press “Stop and save” to end sooner.`);
    player.toggle(true);
  }

  paint() {
    const ctx = this.canvas.getContext("2d"), { player, sheet, sharp } = this;
    ctx.setTransform(sharp, 0, 0, sharp, 0, 0);
    ctx.fillStyle = player.ink.card;
    ctx.fillRect(0, 0, sheet.wide + 2, sheet.high + 2);
    for (const { canvas, x, y, wide, high } of sheet.panels) ctx.drawImage(canvas, x, y, wide, high);
    player.paintWords(ctx, sheet);
  }

  // The last picture stays for half a second.
  stop() {
    if (this.stopping) return;
    this.stopping = true;
    this.player.toggle(false);
    this.paint();
    setTimeout(() => this.recorder.state !== "inactive" && this.recorder.stop(), 500);
  }

  saved() {
    const { player, chunks, type } = this, kind = type.split(";")[0];
    this.end();
    if (!chunks.length) player.say("The film is empty: the browser recorded no picture.");
    else player.save(new Blob(chunks, { type: kind }), `${player.fileName()}.${kind.slice(6)}`);
  }

  end(message = "") {
    this.player.film = null;
    this.player.filmButton.textContent = "Record film";
    if (message) this.player.say(message);
  }
}
