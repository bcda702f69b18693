// Which tables hold more than they show, and on which side: the style sheet fades that edge.

const SLACK = 2; // pixels that rounding may take

/** @param {ShadowRoot} shadow */
export function markEdges(shadow) {
  for (const box of shadow.querySelectorAll(".scroll")) {
    const left = box.scrollLeft > SLACK;
    const right = box.scrollLeft + box.clientWidth < box.scrollWidth - SLACK;
    const more = [left && "left", right && "right"].filter(Boolean).join(" ");
    if (more) box.setAttribute("data-more", more);
    else box.removeAttribute("data-more");
  }
}
