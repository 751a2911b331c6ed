// A canvas that keeps what is drawn on it as SVG: the views paint on it as on any canvas.
const SVG_SPACE = () => document.querySelector("svg").namespaceURI;
const measuring = document.createElement("canvas").getContext("2d");
const shortNumber = (value) => Number(value.toFixed(2));

class SvgCanvas {
  constructor(wide = 0, high = 0) {
    Object.assign(this, { width: wide, height: high, clientWidth: wide, clientHeight: high });
    this.sharp = 1; // pixels of the canvas per unit of the drawing
    this.nodes = [];
    this.ctx = new SvgContext(this);
  }

  getContext() { return this.ctx; }
}

class SvgContext {
  constructor(canvas) {
    this.canvas = canvas;
    Object.assign(this, {
      fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, lineCap: "butt", lineJoin: "miter",
      globalAlpha: 1, font: "10px sans-serif", textAlign: "left", textBaseline: "alphabetic",
    });
    this.dashes = [];
    this.path = [];
    this.setTransform(1, 0, 0, 1, 0, 0);
  }

  setTransform(scale, _b, _c, _d, x, y) { this.at = { scale, x, y }; }
  scale(by) { this.at.scale *= by; }
  setLineDash(dashes) { this.dashes = dashes; }
  measureText(text) {
    measuring.font = this.font;
    return measuring.measureText(text);
  }

  beginPath() { this.path = []; }
  closePath() { this.path.push("Z"); }
  moveTo(x, y) { this.path.push(`M${shortNumber(x)} ${shortNumber(y)}`); }
  lineTo(x, y) {
    this.path.push(`${this.path.length ? "L" : "M"}${shortNumber(x)} ${shortNumber(y)}`);
  }

  arc(x, y, r) { // the map draws whole circles only
    const [wide, whole] = [shortNumber(r), shortNumber(2 * r)];
    this.moveTo(x + r, y);
    this.path.push(`a${wide} ${wide} 0 1 0 ${-whole} 0a${wide} ${wide} 0 1 0 ${whole} 0`);
  }

  rect(x, y, wide, high) {
    const [w, h] = [shortNumber(wide), shortNumber(high)];
    this.moveTo(x, y);
    this.path.push(`h${w}v${h}h${-w}Z`);
  }

  fill() { this.add("path", { d: this.path.join(""), ...this.filled() }); }
  stroke() { if (this.path.length) this.add("path", { d: this.path.join(""), ...this.stroked() }); }

  fillRect(x, y, width, height) { this.box({ x, y, width, height }, this.filled()); }
  strokeRect(x, y, width, height) { this.box({ x, y, width, height }, this.stroked()); }
  box(sizes, style) {
    const short = Object.entries(sizes).map(([name, size]) => [name, shortNumber(size)]);
    this.add("rect", { ...Object.fromEntries(short), ...style });
  }

  fillText(text, x, y) { this.text(text, x, y, this.filled()); }
  strokeText(text, x, y) { this.text(text, x, y, this.stroked()); }
  text(text, x, y, style) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    const [, weight, size, family] = /^(bold )?(\d+)px (.*)$/.exec(this.font) || [];
    const made = this.add("text", {
      x: shortNumber(x), y: shortNumber(y), "text-anchor": anchor, "font-size": size,
      "font-family": family, ...(weight ? { "font-weight": "bold" } : {}),
      ...(this.textBaseline === "middle" ? { "dominant-baseline": "central" } : {}), ...style,
    });
    // XML has no way to write control characters.
    made.textContent = text.replace(/[\u0000-\u001f\ufffe\uffff]/g, "�");
  }

  filled() { return { fill: this.fillStyle, "fill-opacity": shortNumber(this.globalAlpha) }; }
  stroked() {
    return {
      fill: "none", stroke: this.strokeStyle, "stroke-width": shortNumber(this.lineWidth),
      "stroke-opacity": shortNumber(this.globalAlpha), "stroke-linecap": this.lineCap,
      "stroke-linejoin": this.lineJoin,
      ...(this.dashes.length ? { "stroke-dasharray": this.dashes.join(" ") } : {}),
    };
  }

  clearRect() { this.canvas.nodes = []; } // the views clear whole canvases only

  drawImage(source, x, y, wide = source.width, high = source.height) {
    if (!source.width || !source.height) return;
    if (source instanceof SvgCanvas) {
      const scale = shortNumber((wide / source.width) * source.sharp);
      const made = this.add("g", { opacity: shortNumber(this.globalAlpha) });
      made.setAttribute("transform",
        `${this.transform()} translate(${shortNumber(x)} ${shortNumber(y)}) scale(${scale})`.trim());
      made.append(...source.nodes.map((one) => one.cloneNode(true)));
    } else {
      this.add("image", {
        x, y, width: wide, height: high, preserveAspectRatio: "none",
        style: "image-rendering:pixelated", href: source.toDataURL(),
      });
    }
  }

  transform() {
    const { scale, x, y } = this.at;
    if (scale === 1 && !x && !y) return "";
    return `matrix(${scale} 0 0 ${scale} ${shortNumber(x)} ${shortNumber(y)})`;
  }

  add(name, attributes) {
    const made = document.createElementNS(SVG_SPACE(), name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    const transform = this.transform();
    if (transform) made.setAttribute("transform", transform);
    this.canvas.nodes.push(made);
    return made;
  }
}
