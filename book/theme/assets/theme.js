// Runs before the first paint: a page must not flash in the wrong colours.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => {
    try { return localStorage.getItem("theme") || "auto"; } catch { return "auto"; } // storage may be blocked
  };
  const apply = (choice) => {
    root.dataset.themeChoice = choice;
    root.dataset.theme = choice === "auto" ? (system.matches ? "dark" : "light") : choice;
  };
  root.classList.add("js");
  apply(stored());
  system.addEventListener("change", () => apply(root.dataset.themeChoice));
  // Fonts are known only after the style sheet. (A browser does not load them ahead from a disk.)
  if (location.protocol !== "file:") {
    const fonts = new URL("fonts/", document.currentScript.src);
    for (const name of ["sans", "sans-bold", ...(root.lang === "ko" ? ["kr", "kr-bold"] : ["mono"])]) {
      const link = document.createElement("link");
      Object.assign(link, { rel: "preload", as: "font", type: "font/woff2", crossOrigin: "", href: new URL(`${name}.woff2`, fonts) });
      document.head.append(link);
    }
  }
  window.chooseTheme = (choice) => {
    try { localStorage.setItem("theme", choice); } catch { /* the choice then holds for this page only */ }
    apply(choice);
  };
})();
