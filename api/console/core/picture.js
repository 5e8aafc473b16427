/**
 * A picture of the service (SVG) as a part of the page. It is parsed as what it is and copied by a list of what may stand in it, so
 * that whatever came over the wire becomes shapes and text and nothing else.
 */

const TAGS = new Set(["svg", "g", "path", "line", "circle", "ellipse", "rect", "polygon", "polyline", "text", "tspan", "title", "desc"]);
const ATTRIBUTES =
  /^(?:data-[a-z-]+|class|d|x|y|x1|x2|y1|y2|cx|cy|r|rx|ry|dx|dy|width|height|points|viewBox|preserveAspectRatio|transform|fill|fill-opacity|stroke|stroke-width|stroke-opacity|stroke-dasharray|stroke-linecap|stroke-linejoin|opacity|font-size|font-family|font-weight|font-style|text-anchor|dominant-baseline|paint-order|role|aria-label|aria-hidden|xml:space)$/;
const SVG = "http://www.w3.org/2000/svg";

const policy = globalThis.trustedTypes?.createPolicy("engramlog-svg", { createHTML: (text) => text });

/**
 * Put a picture into an element, as wide as that and without its heading: the page has said what it is.
 * @returns {SVGSVGElement} throws where it is no SVG
 */
export function drawInto(place, text) {
  const root = picture(text);
  for (const name of ["width", "height"]) root.removeAttribute(name);
  root.setAttribute("role", "group");
  for (const part of root.querySelectorAll(".heading, .subheading, .paper")) part.remove();
  place.replaceChildren(root);
  const { y, height } = root.getBBox();
  root.setAttribute("viewBox", `0 ${y - 6} ${root.viewBox.baseVal.width} ${height + 12}`);
  return root;
}

function picture(text) {
  const parsed = new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "image/svg+xml");
  const root = parsed.documentElement;
  if (root.namespaceURI !== SVG || root.localName !== "svg") throw new Error("the service sent no picture");
  return copied(root);
}

function copied(node) {
  const made = document.createElementNS(SVG, node.localName);
  for (const { name, value } of node.attributes) if (ATTRIBUTES.test(name) && !/url\(|\\/i.test(value)) made.setAttribute(name, value);
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) made.append(child.data);
    else if (child.nodeType === Node.ELEMENT_NODE && child.namespaceURI === SVG && TAGS.has(child.localName)) made.append(copied(child));
  }
  return made;
}
