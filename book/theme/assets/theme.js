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
  window.chooseTheme = (choice) => {
    try { localStorage.setItem("theme", choice); } catch { /* the choice then holds for this page only */ }
    apply(choice);
  };
})();
