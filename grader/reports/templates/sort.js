
"use strict";
// Each table's columns can be sorted by their headings. Without this script the tables are complete, only not sortable.
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  const compare = new Intl.Collator(document.documentElement.lang, { numeric: true }).compare;
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const falling = heading.getAttribute("aria-sort") === "ascending";
      headings.forEach((each) => each.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
      // 4.5 comes after 4.25 as a number, and before it as digits in a text.
      const order = (a, b) => (isNaN(a) || isNaN(b) || a === "" || b === "" ? compare(a, b) : a - b);
      const rows = [...table.tBodies[0].rows].sort((a, b) => order(value(a), value(b)));
      table.tBodies[0].append(...(falling ? rows.reverse() : rows));
    });
  });
}
