"use strict";

// Pixels between the margins of A4, and how large a table is on paper, as a part of its size on a screen.
const PAPER_WIDTH = 700;
const PRINTED_SIZE = 0.75;

// Lines that a table has before the others are folded away, as the style says too.
const MOST_LINES = 12;

// Every column can be sorted: by the exact number where an entry has one, else as text; what has none comes last.
const order = new Intl.Collator(undefined, { numeric: true });

function compare(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  return sign * (typeof a === "number" ? a - b : order.compare(a, b));
}

function sort(table, place) {
  const heads = table.tHead.rows[0].cells;
  const head = heads[place];
  const ascending = head.getAttribute("aria-sort") !== "ascending";
  const keyOf = (row) => {
    const cell = row.cells[place];
    if (!head.classList.contains("number")) return cell.textContent;
    return "value" in cell.dataset ? Number(cell.dataset.value) : null;
  };
  const lines = Array.from(table.tBodies[0].rows, (row) => [keyOf(row), row]);
  lines.sort(([a], [b]) => compare(a, b, ascending ? 1 : -1));
  table.tBodies[0].append(...lines.map(([, row]) => row));
  for (const other of heads) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
}

for (const table of document.querySelectorAll("table")) {
  Array.from(table.tHead.rows[0].cells).forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, place));
    head.append(button);
  });
}

for (const table of document.querySelectorAll("table")) {
  const count = table.tBodies[0].rows.length;
  if (count <= MOST_LINES + 1) continue;
  table.classList.add("folded");
  const more = document.createElement("button");
  more.type = "button";
  more.className = "more";
  more.textContent = `Show all ${count.toLocaleString("en")} lines`;
  more.addEventListener("click", () => {
    table.classList.remove("folded");
    more.remove();
  });
  table.parentElement.after(more);
}

// What is folded away is printed all the same, and a table that is wider than paper is made smaller.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
  for (const table of document.querySelectorAll("table")) {
    table.style.width = "min-content";
    const narrowest = PRINTED_SIZE * table.offsetWidth;
    table.style.width = "";
    table.style.zoom = Math.min(1, PAPER_WIDTH / narrowest);
  }
});
addEventListener("afterprint", () => {
  for (const table of document.querySelectorAll("table")) table.style.zoom = "";
});
