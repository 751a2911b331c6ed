// The legend: only signs that the shown systems can have on the map, each drawn as on the map.
const SIGN_WIDE = 36, SIGN_HIGH = 20, MIDDLE = [SIGN_WIDE / 2, SIGN_HIGH / 2];
const ACROSS = [[2, MIDDLE[1]], [SIGN_WIDE - 2, MIDDLE[1]]];

const ringSign = (colour, r = 7, width = 2) => (ctx, ink) => {
  ctx.beginPath();
  ctx.arc(...MIDDLE, r, 0, 7);
  ctx.strokeStyle = ink[colour];
  ctx.lineWidth = width;
  ctx.stroke();
};
const dashSign = (colour, width = 2.6) => (ctx, ink) => {
  strokeOf(ctx, ink[colour], width, [[11, 10], [25, 10]]);
  for (const x of [4, 32]) {
    ctx.beginPath();
    ctx.arc(x, 10, 2.6, 0, 7);
    ctx.fillStyle = ink.node;
    ctx.fill();
  }
};
const lineSign = (colour, width, dash) => (ctx, ink) => strokeOf(ctx, ink[colour], width, ACROSS, dash);

const treeSign = (ctx, ink) => {
  strokeOf(ctx, ink.event, 2.8, [[2, 15], [18, 8], [34, 15]]);
  strokeOf(ctx, ink.event, 1, [[18, 8], [30, 3]]);
};
const walkSign = (style) => (ctx, ink) => {
  const colour = ink.walks[style % ink.walks.length];
  strokeOf(ctx, colour, 3, ACROSS, WALKS[style % WALKS.length].dash);
  drawHead(ctx, ink, 27, MIDDLE[1], style);
};
const cellSign = (ctx, ink) => {
  ctx.fillStyle = ink.overlay;
  ctx.globalAlpha = 0.3;
  ctx.fillRect(10, 2, 16, 16);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = ink.overlay;
  ctx.lineWidth = 1;
  ctx.strokeRect(10, 2, 16, 16);
};
const nodeSign = (ctx, ink) => {
  ctx.beginPath();
  ctx.arc(...MIDDLE, 3.5, 0, 7);
  ctx.fillStyle = ink.node;
  ctx.fill();
};
const pathSign = (ctx, ink) => {
  strokeOf(ctx, ink.text, 7, ACROSS);
  strokeOf(ctx, ink.met, 4, ACROSS);
};

// The signs of the legend now: {text, draw}. Each text is there once.
Player.prototype.legendNow = function () {
  const runs = this.shownViews.map(({ run }) => run), following = this.follow >= 0, signs = [];
  const add = (wanted, text, draw) => { if (wanted) signs.push({ text, draw }); };
  const any = (test) => runs.some(test), rows = (name) => any((run) => run[name].t.length > 0);
  const sends = (role, one) => any((run) => run.sends[role][one]);
  add(true, "a node", nodeSign);
  add(this.world().linked, "a link", lineSign("link", 1.6));
  add(sends(0, 0), "an event, to all neighbours", ringSign("event"));
  add(sends(0, 1), "an event, to one neighbour", dashSign("event"));
  add(sends(1, 0), "a step of a walk, to all neighbours", ringSign("walk"));
  add(sends(1, 1), "a step of a walk, to one neighbour", dashSign("walk"));
  add(sends(2, 0), "a message of the overlay, to all neighbours", ringSign("overlay", 5.5, 1.4));
  add(sends(2, 1), "a message of the overlay, to one neighbour", dashSign("overlay", 1.4));
  add(!following && sends(3, 0), "another message, to all neighbours", ringSign("other", 4, 1.4));
  add(!following && sends(3, 1), "another message, to one neighbour", dashSign("other", 1.4));
  add(following && rows("reached"),
    "first receptions of the event; strong on paths to a subscriber", treeSign);
  add(following, "the publisher", (ctx, ink) => drawPublisher(ctx, ink, ...MIDDLE, 8));
  add(rows("delivered"), "delivered to a subscriber",
    (ctx, ink) => drawTick(ctx, ink, ...MIDDLE, 6));
  add(following && any((run) => run.due[this.follow] > 0), "a subscriber that waits for the event",
    (ctx, ink) => drawWaiting(ctx, ink, ...MIDDLE, 5.5, false));
  add(following && any((run) => run.misses(this.follow)), "a subscriber that never receives the event",
    (ctx, ink) => drawWaiting(ctx, ink, ...MIDDLE, 5.5, true));
  const walks = new Map();
  for (const run of runs) for (const label of run.walked) walks.set(run.styles[label], run.labels[label]);
  for (const [style, label] of [...walks].sort(([a], [b]) => a - b)) add(true, label, walkSign(style));
  const meetings = runs.filter((run) => run.met.t.length).map((run) => run.about.meeting);
  add(meetings.length, [...new Set(meetings)].join(", or "),
    (ctx, ink) => drawMeeting(ctx, ink, ...MIDDLE, 8));
  add(rows("links"), "a link of the overlay", lineSign("overlay", 2));
  add(any((run) => run.brokers.length), "a broker; its region has its colour and hatching",
    (ctx, ink) => drawBroker(ctx, ink, ...MIDDLE, "A", 0));
  add(rows("homes"), "a home cell, with its topics", cellSign);
  const changed = (what) => any((run) => run.changes.what.includes(what));
  add(changed(0), "a node that is down", (ctx, ink) => drawDown(ctx, ink, ...MIDDLE, 6));
  add(changed(2), "a link that is cut", lineSign("bad", 1.6, [3, 4]));
  add(this.chosen >= 0, "the chosen node", (ctx, ink) => drawMark(ctx, ink, ...MIDDLE, 7));
  add(this.chosen >= 0 && following, "the path of the event to this node", pathSign);
  return signs;
};

Player.prototype.signOfWalk = walkSign;

Player.prototype.updateLegend = function () {
  const signs = this.legendNow(), sharp = Math.min(2, window.devicePixelRatio || 1);
  const key = `${this.ink.name} ${sharp} ${signs.map(({ text }) => text).join("|")}`;
  if (key === this.legendKey) return;
  this.legendKey = key;
  this.signs.replaceChildren(...signs.map(({ text, draw }) => {
    const item = document.createElement("li"), canvas = document.createElement("canvas");
    canvas.width = SIGN_WIDE * sharp;
    canvas.height = SIGN_HIGH * sharp;
    canvas.setAttribute("aria-hidden", "true");
    const ctx = canvas.getContext("2d");
    ctx.scale(sharp, sharp);
    draw(ctx, this.ink);
    item.append(canvas, text);
    return item;
  }));
};
