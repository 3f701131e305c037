/** Lets the keyboard reach code and tables that are wider than their place, in browsers that do not by themselves. */
const TABLE = { en: "Table", fr: "Tableau" };
const nameOf = (box) => {
  const heads = [...box.querySelectorAll("thead th")].map((head) => head.textContent.trim()).filter(Boolean);
  const [first] = box.textContent.trim().split("\n");
  const table = TABLE[document.documentElement.lang] ?? TABLE.en;
  return box.matches("pre") ? `Code: ${first}` : `${table}: ${heads.join(", ")}`;
};
const reach = () => {
  for (const box of document.querySelectorAll("pre, .table-wrapper")) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", nameOf(box));
    }
  }
};
addEventListener("load", reach);
addEventListener("resize", reach);
