// The address of a moment: system, time, event, node, part of the field, and speed, after the #.
const LINK_MARK = "#map?";
const LINK_WAIT_MS = 250;

Player.prototype.link = function () {
  const parts = new URLSearchParams(), { camera } = this;
  parts.set("system", this.shown < 0 ? "all" : this.runs[this.shown].about.system);
  parts.set("t", String(Number(this.t.toFixed(4))));
  if (this.follow >= 0) parts.set("event", String(this.world().columns.event[this.follow]));
  if (this.chosen >= 0) parts.set("node", this.world().name(this.chosen));
  if (!camera.whole) parts.set("view", [camera.zoom, camera.x, camera.y].map((one) => one.toFixed(4)));
  parts.set("speed", String(this.speed));
  if (!this.fromEvent) parts.set("begin", "0");
  return LINK_MARK + parts;
};

// Keep the address up to date while the map does not play.
Player.prototype.noteLink = function () {
  if (this.lastLink === undefined || this.playing) return;
  clearTimeout(this.linking);
  this.linking = setTimeout(() => {
    const link = this.link();
    if (this.playing || link === this.lastLink) return;
    this.lastLink = link;
    try {
      history.replaceState(null, "", link);
    } catch { // a browser may limit how often; the button copies the link all the same
      this.lastLink = "";
    }
  }, LINK_WAIT_MS);
};

Player.prototype.copyLink = async function () {
  const link = location.href.split("#")[0] + this.link();
  try {
    await navigator.clipboard.writeText(link);
    this.say("The link to this moment is copied.");
  } catch {
    location.replace(this.link());
    this.say("The link to this moment is in the address bar.");
  }
};

Player.prototype.goTo = function (address) {
  if (!this.restore(address)) return;
  this.board.scrollIntoView({ block: "start", behavior: "instant" });
};

// Restore the moment of an address; false where the address is not one of the map.
Player.prototype.restore = function (address) {
  if (!address.startsWith(LINK_MARK)) return false;
  const parts = new URLSearchParams(address.slice(LINK_MARK.length)), unknown = [];
  const number = (name) => (parts.has(name) && parts.get(name).trim() !== ""
    && Number.isFinite(Number(parts.get(name))) ? Number(parts.get(name)) : undefined);
  const system = parts.get("system") ?? "all";
  const which = this.runs.findIndex((run) => run.about.system === system);
  if (which < 0 && system !== "all") unknown.push(`the system ${system}`);
  this.toggle(false);
  this.show(system === "all" && this.runs.length > 1 ? -1 : which < 0 ? this.shown : which);
  const world = this.world(), place = world.columns.event.indexOf(number("event") ?? -1);
  if (parts.has("event") && place < 0) unknown.push(`the event ${parts.get("event")}`);
  this.begins.value = parts.get("begin") === "0" ? "start" : "event";
  this.followEvent(place);
  if (number("speed") > 0) this.setSpeed(nearestSpeed(number("speed")));
  if (parts.has("node")) {
    const row = world.search(parts.get("node")).find((one) => world.name(one) === parts.get("node"));
    if (row === undefined) unknown.push(`the node ${parts.get("node")}`);
    else this.choose(row);
  }
  const view = (parts.get("view") ?? "").split(",").map(Number);
  const given = view.length === 3 && view.every(Number.isFinite);
  this.camera.set(...(given ? view : [1, 0.5, 0.5]));
  this.seek(number("t") ?? this.beginTime());
  if (unknown.length) this.say(`This map does not have ${unknown.join(", nor ")}, which the link names.`);
  return true;
};
