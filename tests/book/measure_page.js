// What is wrong with the layout of the page in a window of this width, as a list of sentences.
(width) => {
  const found = [];
  const name = (element) => `${element.tagName.toLowerCase()}.${element.getAttribute("class") || ""} "${element.textContent.trim().slice(0, 40)}"`;
  const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  const inside = (element) => { // a box that scrolls
    for (let at = element.parentElement; at; at = at.parentElement) if (scrolls(at)) return true;
    return false;
  };
  if (document.documentElement.scrollWidth > width) found.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest(".sidebar, .skip, .visually-hidden, dialog") || element.parentElement.closest("svg, math")) continue;
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    if ((box.right > width + 1 || box.left < -1) && !inside(element)) found.push(`beyond the window: ${name(element)}`);
    const wide = element.scrollWidth - element.clientWidth;
    if (wide <= 1) continue;
    if (["hidden", "clip"].includes(getComputedStyle(element).overflowX) && element.clientWidth > 2) found.push(`cut off: ${name(element)}`);
    if (!scrolls(element)) continue;
    if (!element.matches("pre > code, .table-wrapper")) found.push(`scrolls: ${name(element)}`);
    else if (wide > 4 && getComputedStyle(element).maskImage === "none" && getComputedStyle(element.parentElement, "::after").content === "none") found.push(`scrolls without a hint: ${name(element)}`);
  }
  for (const drawing of document.querySelectorAll("figure svg")) {
    const box = drawing.getBoundingClientRect();
    if (!box.width) continue;
    const scale = box.width / drawing.viewBox.baseVal.width;
    for (const text of drawing.querySelectorAll("text")) {
      const at = text.getBoundingClientRect();
      if (Math.max(box.left - at.left, at.right - box.right, box.top - at.top, at.bottom - box.bottom) > 1) found.push(`outside of ${drawing.id}: ${text.textContent}`);
      const size = parseFloat(getComputedStyle(text).fontSize) * scale;
      if (size < 10.95) found.push(`${size.toFixed(1)} px in ${drawing.id}: ${text.textContent}`);
    }
  }
  return found;
}
