// Sorts a table of the comparison by a column: buttons in its heads, aria-sort, Enter and Space.
const sortKey = (row, column) => {
  const cell = row.cells[column];
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  return cell.classList.contains("n") ? null : cell.textContent.trim();
};

const sorted = (rows, column, sign) => rows.map((row, at) => ({ row, at, key: sortKey(row, column) }))
  .sort((a, b) => {
    if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.at - b.at;
    if (a.key === b.key) return a.at - b.at;
    return sign * (a.key < b.key ? -1 : 1);
  }).map(({ row }) => row);

for (const table of document.querySelectorAll("table.comparison")) {
  const body = table.tBodies[0], first = [...body.rows], heads = [...table.tHead.rows[0].cells];
  if (first.length < 2) continue;
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.title = "Sort by this column";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const was = head.getAttribute("aria-sort");
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (was === "descending") return body.append(...first);
      const ascending = was !== "ascending";
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      return body.append(...sorted(first, column, ascending ? 1 : -1));
    });
  });
}
