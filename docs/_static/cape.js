// Roles and names that the theme and docutils leave to be mended, as axe finds.
document.addEventListener("DOMContentLoaded", () => {
  // The arrows that open a part of the navigation have no text.
  for (const summary of document.querySelectorAll("nav summary")) {
    summary.setAttribute("aria-label", "pages below");
  }
  // The role "doc-biblioentry" is deprecated: an entry of a list is a list item.
  for (const citation of document.querySelectorAll("[role='doc-biblioentry']")) {
    citation.setAttribute("role", "listitem");
  }
});
