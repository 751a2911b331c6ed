"use strict";
(() => {
  const filter = document.querySelector(".filter");
  if (!filter) return;
  filter.hidden = false;
  const chips = [...filter.querySelectorAll("button")];
  const rows = [...document.querySelectorAll("tr[data-verdict]")];
  const shown = filter.querySelector(".shown");
  filter.addEventListener("click", (event) => {
    const chip = event.target.closest("button");
    if (!chip) return;
    chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
    const wanted = chips.filter((c) => c.getAttribute("aria-pressed") === "true");
    const names = new Set(wanted.map((c) => c.dataset.only));
    for (const row of rows) row.hidden = names.size > 0 && !names.has(row.dataset.verdict);
    const left = rows.filter((row) => !row.hidden).length;
    shown.textContent = names.size ? `${left} of ${rows.length} rows` : "";
  });
})();
