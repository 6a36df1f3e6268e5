// Folded parts: a link opens its part, what is open stays open, and paper has them all.
"use strict";
(() => {
  const parts = [...document.querySelectorAll("details[id]")];
  const key = `cape ${location.pathname}`;
  let open = [];
  // A browser may keep nothing for pages from disk; then parts are closed at first.
  try { open = JSON.parse(localStorage.getItem(key)) || []; } catch { open = []; }
  const keep = () => {
    const ids = parts.filter((part) => part.open).map((part) => part.id);
    try { localStorage.setItem(key, JSON.stringify(ids)); } catch { /* Not kept. */ }
  };
  for (const part of parts) {
    part.open = part.open || open.includes(part.id);
    part.addEventListener("toggle", keep);
    part.firstElementChild.addEventListener("click", () => {
      if (!part.open) history.replaceState(null, "", `#${part.id}`);
    });
  }
  const reveal = () => {
    const part = parts.find((each) => `#${each.id}` === location.hash);
    if (part) { part.open = true; part.scrollIntoView(); }
  };
  addEventListener("hashchange", reveal);
  reveal();
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = parts.filter((part) => !part.open);
    for (const part of closed) part.open = true;
  });
  addEventListener("afterprint", () => { for (const part of closed) part.open = false; });
})();
