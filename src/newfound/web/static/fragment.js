// HTML that the server wrote with the report's own functions, copied node by node: only elements and attributes of this list
// come through, so that nothing in it can run or lead elsewhere.

const SVG = "http://www.w3.org/2000/svg";
const ELEMENTS = new Set(
  ("a article aside b br button caption code dd details div dl dt figcaption figure h2 h3 h4 header li ol p pre section span summary table " +
    "tbody td th thead tr ul wbr").split(" "),
);
const DRAWINGS = new Set("svg g path rect circle polyline text".split(" "));
const ATTRIBUTES = new Set(
  ("class id title scope role tabindex type open data-row aria-label aria-labelledby aria-hidden viewbox width height x y cx cy r rx d points " +
    "preserveaspectratio").split(" "),
);
const SPELLED = { viewbox: "viewBox", preserveaspectratio: "preserveAspectRatio" };

const copy = (node) => {
  if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
  if (node.nodeType !== Node.ELEMENT_NODE) return null;
  const name = node.localName;
  const drawn = node.namespaceURI === SVG;
  if (!(drawn ? DRAWINGS : ELEMENTS).has(name)) return null;
  const made = drawn ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const { name: key, value } of node.attributes) {
    const plain = key.toLowerCase();
    if (ATTRIBUTES.has(plain)) made.setAttribute(SPELLED[plain] ?? plain, value);
    else if (plain === "href" && value.startsWith("#")) made.dataset.to = value.slice(1);
  }
  made.append(...copies(node));
  return made;
};

const copies = (node) => [...node.childNodes].map(copy).filter((one) => one !== null);

/** Return the nodes of a piece of HTML. */
export function fragment(html) {
  if (!html) return [];
  return copies(new DOMParser().parseFromString(html, "text/html").body);
}
