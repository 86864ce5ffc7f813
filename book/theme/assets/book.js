// Behaviour of a page: tabs, contents, theme button, copy buttons, outline. Every part works without the others.
"use strict";

const root = document.documentElement;
const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* blocked storage: not kept */ } };
const recall = (key) => { try { return localStorage.getItem(key); } catch { return null; } };

// ---- tabs: chosen by label, and the choice holds for every group of the same name on every page ----
function select(group, index, focus = false) {
  const tabs = [...group.querySelectorAll(":scope > .tab-labels > [role=tab]")];
  tabs.forEach((tab, i) => {
    const chosen = i === index;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    document.getElementById(tab.getAttribute("aria-controls")).hidden = !chosen;
  });
  if (focus) tabs[index].focus();
}

// Commands and outputs exist in one version for each tab of a group; those of the open tab are shown.
function showVersions(name, label) {
  document.querySelectorAll(`.variants[data-tab-group="${name}"]`).forEach((box) => {
    const versions = [...box.children];
    const chosen = versions.find((version) => version.dataset.tab === label) || versions[0];
    versions.forEach((version) => { version.hidden = version !== chosen; });
  });
}
function showKeptVersions() {
  new Set([...document.querySelectorAll(".variants")].map((box) => box.dataset.tabGroup))
    .forEach((name) => showVersions(name, recall(`tab:${name}`)));
}
showKeptVersions();

function choose(group, label) {
  const tabs = [...group.querySelectorAll(":scope > .tab-labels > [role=tab]")];
  const index = tabs.findIndex((tab) => tab.dataset.tab === label);
  if (index >= 0) select(group, index);
}

function follow(tab, group) {
  const name = group.dataset.tabGroup;
  const top = tab.getBoundingClientRect().top;
  remember(`tab:${name}`, tab.dataset.tab);
  document.querySelectorAll(`.code-tabs[data-tab-group="${name}"]`).forEach((other) => {
    if (other !== group) choose(other, tab.dataset.tab);
  });
  showVersions(name, tab.dataset.tab);
  scrollBy({ top: tab.getBoundingClientRect().top - top, behavior: "instant" }); // groups above may have changed height
}

document.querySelectorAll(".code-tabs").forEach((group) => {
  const list = group.querySelector(":scope > .tab-labels");
  if (!list) return;
  const tabs = [...list.querySelectorAll("[role=tab]")];
  select(group, 0);
  const kept = recall(`tab:${group.dataset.tabGroup}`);
  if (kept) choose(group, kept);
  list.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (!tab) return;
    select(group, tabs.indexOf(tab));
    follow(tab, group);
  });
  list.addEventListener("keydown", (event) => {
    const now = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (now < 0 || to === undefined) return;
    event.preventDefault();
    const index = (to + tabs.length) % tabs.length;
    select(group, index, true);
    follow(tabs[index], group);
  });
});

// ---- replays: a page of their own, of which nothing is loaded before. It opens in place of the figure above its
// link, if there is one, and else over the page ----
document.querySelectorAll("a.replay").forEach((link) => link.addEventListener("click", (event) => {
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const button = (text, act) => make("button", { type: "button", className: "button button-quiet", textContent: text, onclick: act });
  const links = link.parentElement;
  const drawn = links.previousElementSibling?.matches(".replay-dialog")
    ? links.previousElementSibling.previousElementSibling : links.previousElementSibling;
  const figure = drawn?.matches("figure.drawn") ? drawn : null;
  const dialog = make("dialog", { className: "replay-dialog", ariaLabel: link.textContent });
  const head = make("div");
  const frame = make("iframe", { title: link.textContent, src: `${link.href}#${root.dataset.theme === "dark" ? "dark" : "light"}` });
  frame.addEventListener("load", () => frame.focus({ preventScroll: true }));
  const escaped = (message) => { if (message.source === frame.contentWindow && message.data === "close-replay") dialog.close(); };
  addEventListener("message", escaped);
  const recoloured = new MutationObserver(() => frame.contentWindow?.postMessage(`theme-${root.dataset.theme}`, "*"));
  recoloured.observe(root, { attributes: true, attributeFilter: ["data-theme"] });
  dialog.addEventListener("keydown", (key) => { if (key.key === "Escape") dialog.close(); });
  dialog.addEventListener("close", () => {
    removeEventListener("message", escaped);
    recoloured.disconnect();
    dialog.remove();
    if (links.previousElementSibling?.matches(".replay-dialog")) return; // another one was opened in its place
    if (figure) figure.hidden = false;
    link.focus();
  });
  const large = button(link.dataset.enlarge, () => {
    dialog.removeAttribute("open"); // not close(), which would end it
    dialog.showModal();
    large.remove();
    frame.focus();
  });
  const buttons = make("span");
  buttons.append(...(figure ? [large] : []), button(link.dataset.close, () => dialog.close()));
  head.append(make("strong", { textContent: link.textContent }), buttons);
  dialog.append(head, frame);
  if (!figure) {
    document.body.append(dialog);
    dialog.showModal();
    return;
  }
  const before = links.previousElementSibling;
  links.before(dialog);
  dialog.show();
  if (before !== figure) before.close();
  figure.hidden = true;
  dialog.scrollIntoView({ block: "nearest" });
}));

// Paper has no folds, and is white.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("article details:not([open])")];
  folded.forEach((fold) => { fold.open = true; });
  root.dataset.theme = "light";
});
addEventListener("afterprint", () => {
  folded.forEach((fold) => { fold.open = false; });
  window.chooseTheme(root.dataset.themeChoice);
});

// The name in a fragment; one that is not encoded rightly is taken as it is.
function decoded(fragment) {
  try { return decodeURIComponent(fragment.slice(1)); } catch { return fragment.slice(1); }
}

// A fragment may point into a folded part or into a hidden tab: open the way to it.
function reveal() {
  const target = location.hash && document.getElementById(decoded(location.hash));
  if (!target) return;
  for (let at = target; at; at = at.parentElement) {
    if (at.tagName === "DETAILS") at.open = true;
    if (at.classList.contains("tab-panel") && at.hidden) choose(at.parentElement, at.dataset.tab);
  }
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();

// ---- contents ----
const sidebar = document.getElementById("sidebar");
const menu = document.querySelector(".menu-button");
const curtain = document.querySelector(".curtain");
const behind = document.querySelectorAll(".skip, .bar, main, .margin"); // not reached while the contents lie over them
function showContents(open) {
  sidebar.classList.toggle("open", open);
  root.classList.toggle("contents-open", open);
  menu.setAttribute("aria-expanded", open);
  curtain.hidden = !open;
  behind.forEach((part) => { part.inert = open; });
  if (open) (sidebar.querySelector("[aria-current]") || sidebar.querySelector("a"))?.focus();
}
menu.addEventListener("click", () => showContents(!sidebar.classList.contains("open")));
curtain.addEventListener("click", () => { showContents(false); menu.focus(); });
sidebar.addEventListener("click", (event) => {
  if (event.target.closest("a")) showContents(false);
  if (event.target.closest(".sidebar-close")) { showContents(false); menu.focus(); }
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && sidebar.classList.contains("open")) { showContents(false); menu.focus(); }
});
// In a window that has become wide, the contents are beside the page.
matchMedia("(width >= 62rem)").addEventListener("change", ({ matches }) => { if (matches) showContents(false); });
const current = sidebar.querySelector("[aria-current]");
if (current && current.offsetTop + current.offsetHeight > sidebar.clientHeight) sidebar.scrollTop = current.offsetTop - sidebar.clientHeight / 2;

// ---- theme ----
const button = document.querySelector(".theme-button");
const nameTheme = () => {
  const text = `${button.dataset.label}: ${button.dataset[root.dataset.themeChoice]}`;
  button.setAttribute("aria-label", text);
  button.title = text;
};
button.dataset.label = button.getAttribute("aria-label");
nameTheme();
button.addEventListener("click", () => {
  // The first press always changes something; then comes the other theme, then again what the system says.
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const other = system === "dark" ? "light" : "dark";
  window.chooseTheme({ auto: other, [other]: system, [system]: "auto" }[root.dataset.themeChoice]);
  nameTheme();
});

// A page that the browser has kept shows what was chosen since.
addEventListener("pageshow", ({ persisted }) => {
  if (!persisted) return;
  window.chooseTheme(recall("theme") || root.dataset.themeChoice);
  nameTheme();
  document.querySelectorAll(".code-tabs").forEach((group) => choose(group, recall(`tab:${group.dataset.tabGroup}`)));
  showKeptVersions();
});

// ---- language: the switcher leads to the same section where both pages have as many headings ----
const switcher = document.querySelector(".switcher");
switcher?.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // opens elsewhere
  const headings = [...document.querySelectorAll("article :is(h2, h3)")];
  const seen = headings.filter((heading) => heading.getBoundingClientRect().top < 140).length;
  try { sessionStorage.setItem("section", JSON.stringify([headings.length, seen])); } catch { /* starts at the top */ }
});
try {
  const [count, seen] = JSON.parse(sessionStorage.getItem("section") || "[]");
  sessionStorage.removeItem("section");
  const headings = [...document.querySelectorAll("article :is(h2, h3)")];
  if (seen && count === headings.length) headings[seen - 1].scrollIntoView();
} catch { /* no storage: starts at the top */ }

// ---- copy buttons ----
if (navigator.clipboard) {
  document.querySelectorAll("article pre > code:not(.language-text)").forEach((code) => {
    const copy = document.createElement("button");
    copy.type = "button";
    copy.className = "copy";
    copy.textContent = root.dataset.copy;
    copy.addEventListener("click", async () => {
      const clone = code.cloneNode(true);
      clone.querySelectorAll(".p").forEach((prompt) => prompt.remove());
      await navigator.clipboard.writeText(clone.textContent);
      copy.textContent = root.dataset.copied;
      setTimeout(() => { copy.textContent = root.dataset.copy; }, 1500);
    });
    (code.closest("figure.code")?.querySelector("figcaption") || code.parentElement).append(copy);
  });
}

// ---- a long line is scrolled with the keyboard too ----
const reachable = () => document.querySelectorAll("article pre > code, article .table-wrapper, article .figure-scroll, article .formula").forEach((box) => {
  const wide = box.scrollWidth > box.clientWidth;
  if (wide) box.tabIndex = 0; else box.removeAttribute("tabindex");
  // What goes on beyond the edge fades out there.
  box.toggleAttribute("data-more", wide && box.scrollLeft + box.clientWidth < box.scrollWidth - 4);
});
reachable();
addEventListener("scroll", (event) => { if (event.target.matches?.(".figure-scroll, .table-wrapper, pre > code")) reachable(); }, true);
addEventListener("load", reachable); // pictures have their sizes now
addEventListener("resize", reachable);
document.addEventListener("click", () => requestAnimationFrame(reachable)); // a tab or fold may have opened

// ---- last lines: where one word would be left for the last line of a text, the word before it goes there, too;
// where that would leave a hole or is not enough, all lines become a little shorter ----
const SHORT = 4.4, ENOUGH = 4.7, LESS = 2.6, HOLE = 3.4; // times the size of letters
const SINGLE = 9, GAP = 4.6; // a single word to join, and how much shorter than others the line before it may be then
const NARROW = 24; // a column of a phone, whose lines hardly become shorter
function lineWidths(text) {
  const range = document.createRange();
  range.selectNodeContents(text);
  const lines = [];
  for (const { left, right, top, bottom } of range.getClientRects()) {
    if (right - left < 1) continue;
    const middle = (top + bottom) / 2;
    const line = lines.find((other) => Math.abs(other.middle - middle) < 9); // code is lower than letters
    if (line) Object.assign(line, { left: Math.min(line.left, left), right: Math.max(line.right, right) });
    else lines.push({ middle, left, right });
  }
  return lines.sort((one, other) => one.middle - other.middle).map(({ left, right }) => right - left);
}
const holeIn = (lines) => Math.max(...lines) - Math.min(...lines.slice(0, -1));
function lastSpace(text) {
  const walk = document.createTreeWalker(text, NodeFilter.SHOW_TEXT), nodes = [];
  while (walk.nextNode()) nodes.push(walk.currentNode);
  let after = false; // whether a word is after the place
  for (const node of nodes.reverse()) {
    for (let place = node.length - 1; place >= 0; place -= 1) {
      const isSpace = /[ \n]/.test(node.data[place]);
      if (isSpace && after) return node.parentElement.closest("code, math") ? null : { node, place };
      after ||= !isSpace;
    }
  }
  return null;
}
const joined = new WeakMap(); // the place in a text where a space became one that does not break
function join(text, before, em) {
  const found = lastSpace(text);
  if (!found) return before;
  found.node.replaceData(found.place, 1, "\u00a0");
  const lines = lineWidths(text);
  const isBetter = lines.length === before.length && lines.at(-1) > before.at(-1);
  if (isBetter && Math.max(...lines) - lines.at(-2) <= Math.max(GAP * em, holeIn(before))) {
    joined.set(text, found);
    return lines;
  }
  found.node.replaceData(found.place, 1, " ");
  return before;
}
function settle(text) {
  text.style.paddingRight = "";
  joined.get(text)?.node.replaceData(joined.get(text).place, 1, " ");
  joined.delete(text);
  const { display, fontSize, paddingLeft, paddingRight } = getComputedStyle(text);
  const em = parseFloat(fontSize);
  const whole = text.clientWidth - parseFloat(paddingLeft);
  if (!whole || parseFloat(paddingRight) || /flex|grid/.test(display)) return;
  let before = lineWidths(text);
  if (before.length < 2 || before.at(-1) >= SINGLE * em) return;
  before = join(text, before, em);
  const isNarrow = whole < NARROW * em;
  if (before.at(-1) >= SHORT * em || (isNarrow && joined.has(text))) return;
  const most = isNarrow ? LESS / 2 : before.length > 2 ? LESS : 2 * LESS; // two lines have no neighbours that are longer
  for (let less = 0.2; less <= most; less += 0.2) {
    text.style.paddingRight = `${less * em}px`;
    const lines = lineWidths(text);
    if (lines.length > before.length) break;
    if (lines.at(-1) >= ENOUGH * em && holeIn(lines) <= Math.max(HOLE * em, holeIn(before))) return;
  }
  text.style.paddingRight = "";
}
const settled = new WeakMap(); // the width for which the lines of a text were set
const settling = new ResizeObserver((changes) => changes.forEach(({ target }) => {
  if (settled.get(target) === target.offsetWidth) return;
  settled.set(target, target.offsetWidth);
  settle(target);
}));
// Not in the whole book, which is for paper: there lines keep their width.
document.fonts.ready.then(() => document.querySelectorAll("body:not(.whole-book) article :is(p, li, dd, figcaption, .place)").forEach((text) => {
  if (!text.querySelector("p, ul, ol, dl, pre, div, button, .place")) settling.observe(text);
}));

// ---- outline ----
const marks = new Map([...document.querySelectorAll(".outline a")].map((a) => [decoded(a.hash), a]));
if (marks.size) {
  const headings = [...document.querySelectorAll("article h2")].filter((heading) => marks.has(heading.id));
  const track = () => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight * 0.35);
    const end = scrollY > 0 && scrollY + innerHeight >= root.scrollHeight - 4;
    const here = (end ? headings : passed).at(-1) || headings[0];
    marks.forEach((a, id) => { if (id === here?.id) a.setAttribute("aria-current", "true"); else a.removeAttribute("aria-current"); });
  };
  addEventListener("scroll", () => requestAnimationFrame(track), { passive: true });
  track();
}

// ---- outline in narrow windows: folded, below the title ----
const outline = document.querySelector(".outline");
const opening = document.querySelector("article > .puzzle-card, article > h1:not(:has(+ .puzzle-card))");
if (outline && opening && !document.body.classList.contains("cover")) {
  const fold = document.createElement("details");
  fold.className = "on-page";
  const summary = document.createElement("summary");
  summary.textContent = outline.getAttribute("aria-label");
  fold.append(summary, outline.querySelector("ol").cloneNode(true));
  fold.addEventListener("click", (event) => { if (event.target.closest("a")) fold.open = false; });
  opening.after(fold);
}

// ---- search: loaded when it is first asked for ----
const assets = new URL(".", document.currentScript.src);
const opener = document.querySelector(".search-button");
let searching;
function load(name) {
  return new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = new URL(name, assets);
    script.onload = done;
    script.onerror = () => { script.remove(); failed(new Error(`${name} could not be loaded`)); };
    document.head.append(script);
  });
}
async function openSearch() {
  searching ??= (async () => {
    await Promise.all([load("minisearch.js"), load(`search-${root.lang}.js`)]);
    await load("search.js");
  })();
  try {
    await searching;
  } catch {
    searching = undefined; // the next attempt loads it again
    const says = Object.assign(document.createElement("dialog"), { className: "search", onclose: () => says.remove() });
    says.innerHTML = '<p class="search-status" role="alert"></p><form method="dialog"><button class="bar-button"></button></form>';
    says.firstChild.textContent = opener.dataset.failed;
    says.querySelector("button").textContent = opener.dataset.close;
    document.body.append(says);
    says.showModal();
    return;
  }
  window.showSearch();
}
opener.addEventListener("click", openSearch);
addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  const wanted = (event.key === "/" && !typing) || (event.key === "k" && (event.ctrlKey || event.metaKey));
  if (wanted && !event.altKey) { event.preventDefault(); openSearch(); }
});
