// The search dialog. From the build come `searchSections`, [page, fragment, page title, heading, text] for each section, and
// `searchSynonyms`, by what readers may type for a term of the glossary what the book writes.
"use strict";

// Korean words carry particles: 메모리, 메모리를, 메모리에서. Words are indexed as pairs of syllables, so that any part of a
// word is found, and a particle at the end of a word in the query is put aside.
const HANGUL = /^[가-힣]+$/;
const PARTICLES = new RegExp(
  "(?:에서는|에서도|으로는|으로도|에게서|이라는|까지|부터|에서|에게|으로|하고|처럼|보다|마다|이나|이란|라는|들은|들을|들이|에는|에도|과는|와는|을|를|은|는|이|가|의|에|로|와|과|도|만|나)$",
);
const words = (text) => text.normalize("NFC").toLowerCase().match(/[가-힣]+|[\p{L}\p{N}_]+/gu) || [];
const pairs = (word) => (word.length < 2 ? [word] : Array.from({ length: word.length - 1 }, (_, i) => word.slice(i, i + 2)));

function indexTerms(text) {
  return words(text).flatMap((word) => {
    if (HANGUL.test(word)) return pairs(word);
    vocabulary.add(word);
    const parts = word.split("_").filter((part) => part && part !== word); // block_idx is found by idx, too
    return [word, ...parts];
  });
}

// What readers call things that the book names otherwise.
const ALIASES = {
  matmul: "matrix multiplication", gemm: "matrix multiplication", smem: "shared memory", sm: "multiprocessor",
  tid: "thread_idx", bid: "block_idx", syncthreads: "barrier", cumsum: "prefix sum", 인접: "이웃", 인접한: "이웃한", 행렬곱: "행렬 곱셈", 행렬곱셈: "행렬 곱셈",
};

// A Korean word without its particle.
function withoutParticle(word) {
  const stem = word.length < 3 ? word : word.replace(PARTICLES, "");
  return stem.length >= 2 ? stem : word;
}

// A query in the book's words. A form that the book has itself stays.
function inBookWords(query) {
  return Object.entries(searchSynonyms).sort(([one], [other]) => other.length - one.length).reduce((text, [form, term]) => {
    const written = new RegExp(form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(" ", "\\s*"), "giu");
    return written.test(text) && !book().includes(form) ? text.replace(written, term) : text;
  }, query.normalize("NFC"));
}

// The stems of a query: what a section must contain, and is marked in the result.
function stems(query) {
  return words(inBookWords(query)).flatMap((word) => (ALIASES[word] ? words(ALIASES[word]) : [word])).flatMap((word) => {
    if (!HANGUL.test(word)) return [word.length > 5 ? word.replace(/(?:ing|ed|es|s|ions?)$/, "") : word];
    const stem = withoutParticle(word);
    return book().includes(stem) ? [stem] : spelled(stem);
  });
}

// A Korean word that the book does not have: the words that it has with spaces between them (공유메모리), or else the most
// frequent word that differs in one letter (배리여).
const guesses = new Map();
function spelled(stem) {
  if (!guesses.has(stem)) guesses.set(stem, apart(stem, 2) || nearest(stem) || [stem]);
  return guesses.get(stem);
}
function apart(stem, spaces, before = "") {
  for (let cut = stem.length - 1; cut > 0; cut--) {
    const first = `${before}${stem.slice(0, cut)} `, rest = stem.slice(cut);
    if (new RegExp(`(?<![가-힣])${first}${rest}`).test(book())) return `${first}${rest}`.split(" ");
    const more = spaces > 1 && book().includes(first) && apart(rest, spaces - 1, first);
    if (more) return more;
  }
  return null;
}
function nearest(stem) {
  if (stem.length < 2) return null;
  const letters = stem.normalize("NFD");
  const near = [...koreanWords()].filter(([word]) => Math.abs(word.length - stem.length) < 2 && oneEdit(letters, word.normalize("NFD")));
  return near.length ? [near.reduce((best, one) => (one[1] > best[1] ? one : best))[0]] : null;
}
// Whether one letter was replaced, added or left out.
function oneEdit(one, other) {
  if (Math.abs(one.length - other.length) > 1) return false;
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  const rests = [[same + 1, same + 1], [same + 1, same], [same, same + 1]];
  return rests.some(([a, b]) => one.slice(a) === other.slice(b));
}

// The word with each pair of neighbouring letters exchanged: a common slip, and two edits for the index.
const swaps = (word) => Array.from({ length: Math.max(0, word.length - 1) }, (_, i) => word.slice(0, i) + word[i + 1] + word[i] + word.slice(i + 2));
const vocabulary = new Set();

const index = new MiniSearch({
  fields: ["heading", "title", "text"],
  tokenize: indexTerms,
  processTerm: (term) => term,
});
const sections = searchSections.map(([page, fragment, title, heading, text], id) => ({ id, page, fragment, title, heading, text }));
index.addAll(sections);
// What only queries in Korean need is made for the first of them.
const atFirst = (make) => { let made; return () => (made ??= make()); };
const book = atFirst(() => sections.map((section) => `${section.title} ${section.heading} ${section.text}`).join("\n"));
const koreanWords = atFirst(() => { // without particles, and how many there are
  const counts = new Map();
  if (document.documentElement.lang === "ko") {
    for (const word of book().match(/[가-힣]+/g).map(withoutParticle)) counts.set(word, (counts.get(word) || 0) + 1);
  }
  return counts;
});

function find(query) {
  const wanted = stems(query);
  const found = fitting(query, wanted);
  if (found.length || wanted.length < 2) return found;
  // Of a question such as 점유율을 높이면, the words that the book has.
  const known = words(inBookWords(query)).filter((word) => HANGUL.test(word) && book().includes(withoutParticle(word)));
  return fitting(query, stems(known.join(" ")));
}

function fitting(query, wanted) {
  if (!wanted.length) return [];
  const queries = wanted.map((stem) => {
    const korean = HANGUL.test(stem);
    const meant = korean || vocabulary.has(stem) ? [] : swaps(stem).filter((word) => vocabulary.has(word));
    return {
      queries: korean ? pairs(stem) : [stem, ...meant],
      combineWith: korean ? "AND" : "OR",
      prefix: korean ? stem.length < 2 : true,
      fuzzy: !korean && stem.length > 4 ? 0.2 : false,
      boost: { heading: 4, title: 2 },
      tokenize: (term) => [term],
    };
  });
  const found = index.search({ combineWith: "AND", queries });
  const korean = wanted.filter((stem) => HANGUL.test(stem));
  const sectionsFound = found
    .map((result) => sections[result.id])
    .filter((section) => korean.every((stem) => `${section.title} ${section.heading} ${section.text}`.includes(stem)));
  // First the puzzle that is asked for by its number, then pages whose title holds every word.
  const number = query.trim().match(/^(?:puzzle|퍼즐|p)?\s*0*(\d{1,2})$/i)?.[1].padStart(2, "0");
  const rank = (section) => {
    if (section.fragment) return 2;
    if (section.page === `puzzle_${number}/puzzle_${number}.html`) return 0;
    return wanted.every((stem) => section.title.toLowerCase().includes(stem)) ? 1 : 2;
  };
  // A name from a program: where it first appears in the book, it is explained.
  const name = query.trim().match(/^([a-z]\w*[_.]\w+)(?:\(\))?$/i)?.[1].toLowerCase();
  const named = (section) => Number(Boolean(name) && section.text.toLowerCase().includes(name));
  const order = (one, other) => rank(one) - rank(other) || named(other) - named(one) || (name ? one.id - other.id : 0);
  const asked = number ? sections.filter((section) => !rank(section) && !sectionsFound.includes(section)) : [];
  return [...asked, ...sectionsFound].sort(order);
}

// ---- the dialog ----
const text = document.querySelector(".search-button").dataset; // label, close, hint, none, one, many, more
// The page for wrong addresses is shown at any address, and has no root: the site is around this script.
const siteRoot = document.documentElement.dataset.root ?? new URL("../", document.currentScript.src).href;
const SHOWN = 20;
const EXCERPT = 170;

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));
  node.append(...children);
  return node;
}

function marked(source, wanted) {
  const meant = wanted.flatMap((stem) => (HANGUL.test(stem) ? [stem] : [stem, ...swaps(stem).filter((word) => vocabulary.has(word))]));
  const pattern = meant.map((stem) => stem.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + (HANGUL.test(stem) ? "" : "[\\p{L}\\p{N}]*")).join("|");
  const pieces = source.split(new RegExp(`(${pattern})`, "giu"));
  return pieces.map((piece, i) => (i % 2 ? element("mark", {}, piece) : piece));
}

function excerpt(section, wanted) {
  const lower = section.text.toLowerCase();
  const at = Math.min(...wanted.map((stem) => lower.indexOf(stem)).filter((place) => place >= 0), section.text.length);
  const start = at >= section.text.length ? 0 : Math.max(0, section.text.lastIndexOf(" ", at - 40) + 1);
  const cut = section.text.slice(start, start + EXCERPT);
  return `${start ? "… " : ""}${cut}${start + EXCERPT < section.text.length ? " …" : ""}`;
}

const input = element("input", { type: "search", id: "search-input", autocomplete: "off", spellcheck: "false", "aria-label": text.label, placeholder: text.label });
const close = element("button", { type: "submit", class: "bar-button", formmethod: "dialog" }, text.close);
const status = element("p", { class: "search-status", role: "status" }, text.hint);
const results = element("ol", { class: "search-results" });
const dialog = element("dialog", { class: "search", "aria-label": text.label }, element("form", { method: "dialog", role: "search" }, input, close), status, results);
document.body.append(dialog);

function show() {
  const query = input.value.trim();
  const wanted = stems(query);
  const found = query ? find(query) : [];
  const count = found.length === 1 ? text.one : found.length > SHOWN ? text.more.replace("%", SHOWN) : text.many;
  status.textContent = !query ? text.hint : (found.length ? count.replace("#", found.length) : text.none.replace("#", () => query));
  results.replaceChildren(...found.slice(0, SHOWN).map((section) => {
    const place = section.heading === section.title ? section.title : `${section.title} › ${section.heading}`;
    const address = `${siteRoot}${section.page}${section.fragment ? `#${section.fragment}` : ""}`;
    const link = element("a", { href: address }, element("strong", {}, ...marked(place, wanted)), element("span", {}, ...marked(excerpt(section, wanted), wanted)));
    link.addEventListener("click", () => dialog.close());
    return element("li", {}, link);
  }));
  results.scrollTop = 0;
}
input.addEventListener("input", show);
// A click beside the box closes it; not a selection that ends there.
let pressed = null;
dialog.addEventListener("pointerdown", (event) => { pressed = event.target; });
dialog.addEventListener("click", (event) => { if (event.target === dialog && pressed === dialog) dialog.close(); });
dialog.addEventListener("keydown", (event) => {
  const links = [...results.querySelectorAll("a")];
  const now = links.indexOf(document.activeElement);
  if (event.key === "ArrowDown" && links.length) { event.preventDefault(); links[Math.min(now + 1, links.length - 1)].focus(); }
  if (event.key === "ArrowUp" && now >= 0) { event.preventDefault(); (now ? links[now - 1] : input).focus(); }
  if (event.key === "Escape") { event.preventDefault(); dialog.close(); } // a search field would only empty itself
  if (event.key === "Enter" && document.activeElement === input) { event.preventDefault(); links[0]?.click(); }
});

window.showSearch = () => { if (!dialog.open) dialog.showModal(); input.select(); };
