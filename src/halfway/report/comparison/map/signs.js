// The signs of the map: the panels, the legend and the saved picture draw them alike.
const WALKS = [ // of the walks' labels: dashes of the line, shape of the head
  { dash: [], head: "up" }, { dash: [2, 4], head: "square" }, { dash: [9, 4], head: "down" },
  { dash: [9, 3, 2, 3], head: "disc" }, { dash: [5, 2], head: "diamond" },
];

const drawTick = (ctx, ink, x, y, r, strength = 1) => {
  ctx.globalAlpha = strength;
  ctx.fillStyle = ink.good;
  ctx.fillRect(x - r, y - r, 2 * r, 2 * r);
  ctx.strokeStyle = ink.halo;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.moveTo(x - 0.55 * r, y);
  ctx.lineTo(x - 0.1 * r, y + 0.5 * r);
  ctx.lineTo(x + 0.6 * r, y - 0.5 * r);
  ctx.stroke();
  ctx.globalAlpha = 1;
};

const crossPath = (ctx, x, y, r) => {
  ctx.moveTo(x - r, y - r);
  ctx.lineTo(x + r, y + r);
  ctx.moveTo(x + r, y - r);
  ctx.lineTo(x - r, y + r);
};

// A waiting subscriber: an empty square; crossed if it never receives the event.
const drawWaiting = (ctx, ink, x, y, r, missed) => {
  ctx.fillStyle = ink.halo;
  ctx.fillRect(x - r, y - r, 2 * r, 2 * r);
  ctx.strokeStyle = missed ? ink.bad : ink.text;
  ctx.lineWidth = 1.8;
  ctx.strokeRect(x - r, y - r, 2 * r, 2 * r);
  if (!missed) return;
  ctx.beginPath();
  crossPath(ctx, x, y, r - 2);
  ctx.stroke();
};

const drawPublisher = (ctx, ink, x, y, r) => {
  ctx.beginPath();
  for (const [dx, dy] of [[0, -r], [r, 0], [0, r], [-r, 0]]) ctx.lineTo(x + dx, y + dy);
  ctx.closePath();
  ctx.fillStyle = ink.text;
  ctx.fill();
  ctx.strokeStyle = ink.halo;
  ctx.lineWidth = 2;
  ctx.stroke();
};

const drawDown = (ctx, ink, x, y, r) => {
  ctx.beginPath();
  crossPath(ctx, x, y, r);
  ctx.strokeStyle = ink.bad;
  ctx.lineWidth = 1.6;
  ctx.stroke();
};

const drawBroker = (ctx, ink, x, y, name, place) => {
  const half = 5 + 3.2 * name.length;
  ctx.font = "bold 11px system-ui,sans-serif";
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = ink.halo;
  ctx.fillRect(x - half, y - 8, 2 * half, 16);
  ctx.strokeStyle = ink.regions[place % ink.regions.length];
  ctx.lineWidth = 2.5;
  ctx.strokeRect(x - half, y - 8, 2 * half, 16);
  ctx.fillStyle = ink.text;
  ctx.fillText(name, x, y + 0.5);
};

// The head of a walk, in the shape of its label.
const drawHead = (ctx, ink, x, y, style) => {
  const { head } = WALKS[style % WALKS.length];
  const corners = {
    up: [[0, -6], [5.5, 4], [-5.5, 4]], down: [[0, 6], [5.5, -4], [-5.5, -4]],
    square: [[-4, -4], [4, -4], [4, 4], [-4, 4]], diamond: [[0, -6], [5, 0], [0, 6], [-5, 0]],
  }[head];
  ctx.beginPath();
  if (corners) {
    corners.forEach(([dx, dy], k) => ctx[k ? "lineTo" : "moveTo"](x + dx, y + dy));
    ctx.closePath();
  } else ctx.arc(x, y, 4.6, 0, 7);
  ctx.fillStyle = ink.walks[style % ink.walks.length];
  ctx.fill();
  ctx.strokeStyle = ink.halo;
  ctx.lineWidth = 1;
  ctx.stroke();
};

const starPath = (ctx, x, y, r) => {
  ctx.beginPath();
  for (let k = 0; k < 10; k++) {
    const far = k % 2 ? 0.45 * r : r, turn = (Math.PI * k) / 5 - Math.PI / 2;
    ctx.lineTo(x + far * Math.cos(turn), y + far * Math.sin(turn));
  }
  ctx.closePath();
};

const drawMeeting = (ctx, ink, x, y, r) => {
  starPath(ctx, x, y, r);
  ctx.fillStyle = ink.met;
  ctx.fill();
  ctx.strokeStyle = ink.text;
  ctx.lineWidth = 1;
  ctx.stroke();
};

// The ring around a chosen node, or around a node that a search found.
const drawMark = (ctx, ink, x, y, r, chosen = true) => {
  for (const [colour, width] of chosen ? [[ink.text, 5], [ink.met, 2.6]] : [[ink.text, 1.6]]) {
    ctx.beginPath();
    ctx.arc(x, y, r, 0, 7);
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.stroke();
  }
};

const strokeOf = (ctx, colour, width, points, dash = []) => {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.setLineDash(dash);
  ctx.beginPath();
  points.forEach(([x, y], k) => ctx[k ? "lineTo" : "moveTo"](x, y));
  ctx.stroke();
  ctx.setLineDash([]);
};
