// Machine-checkable requirements of WCAG 2.1 AA: rules by success criterion, run inside the page.
// `structure()`, `contrast()` and `layout()` return [{criterion, rule, where, what}]; `watch()` and
// `focused()` follow the focus while the test presses keys. The page is not changed.
"use strict";
window.accessibility = (() => {
  const TEXT_CONTRAST = 4.5, LARGE_TEXT_CONTRAST = 3, SIGN_CONTRAST = 3;
  const LARGE_PX = 24, LARGE_BOLD_PX = 18.66, BOLD = 700;
  const TARGET_PX = 24;
  const SLACK_PX = 2;  // part of a line's box that glyphs do not fill
  const CONTROLS = "input:not([type=hidden]), select, textarea, button";
  const TABBABLE = "a[href], summary, [tabindex], " + CONTROLS;
  const ROLES = new Set(("alert banner button cell checkbox columnheader combobox complementary contentinfo dialog form " +
    "gridcell group heading img link list listbox listitem main meter navigation none note option presentation " +
    "progressbar radio region row rowgroup rowheader search searchbox separator status switch tab table tablist " +
    "tabpanel textbox tooltip").split(" "));
  const REFERENCES = ["aria-activedescendant", "aria-controls", "aria-describedby", "aria-details", "aria-labelledby",
                      "aria-owns", "for", "headers"];
  const ARIA = new Set(REFERENCES.concat(("aria-atomic aria-autocomplete aria-busy aria-checked aria-current " +
    "aria-disabled aria-expanded aria-haspopup aria-hidden aria-invalid aria-label aria-level aria-live " +
    "aria-multiselectable aria-orientation aria-posinset aria-pressed aria-readonly aria-relevant aria-required " +
    "aria-roledescription aria-selected aria-setsize aria-sort aria-valuemax aria-valuemin aria-valuenow " +
    "aria-valuetext").split(" ")));

  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const describe = (element) => {
    const id = element.id ? "#" + element.id : "";
    const text = (element.textContent || "").trim().replace(/\s+/g, " ").slice(0, 40);
    return element.tagName.toLowerCase() + id + [...element.classList].map((c) => "." + c).join("") + ` "${text}"`;
  };
  const collector = () => {
    const found = [];
    const report = (criterion, rule, element, what) =>
      found.push({criterion, rule, where: element ? describe(element) : "page", what});
    return {found, report};
  };

  // Visible; an element for screen readers only is clipped to one pixel.
  const isShown = (element) => {
    if (!element.checkVisibility({opacityProperty: true, visibilityProperty: true})) return false;
    for (let e = element; e; e = e.parentElement) {
      const box = e.getBoundingClientRect();
      if (box.width <= 1 && box.height <= 1 && getComputedStyle(e).overflow !== "visible") return false;
    }
    return true;
  };
  const isTabbable = (element) => element.matches(TABBABLE) && element.tabIndex >= 0 && !element.disabled &&
    element.checkVisibility({visibilityProperty: true});
  const tabbables = () => all(TABBABLE).filter(isTabbable);
  const shownTexts = () => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      if (walker.currentNode.data.trim() && !parent.matches("script, style, title, option") && isShown(parent)) {
        texts.push(walker.currentNode);
      }
    }
    return texts;
  };

  // Converts a colour in any notation to [red, green, blue, alpha] as painted by the browser.
  const pixel = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const known = new Map();
  const colour = (css) => {
    if (!known.has(css)) {
      pixel.clearRect(0, 0, 1, 1);
      pixel.fillStyle = css;
      pixel.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = pixel.getImageData(0, 0, 1, 1).data;
      known.set(css, [red, green, blue, alpha / 255]);
    }
    return known.get(css);
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const luminance = (c) => {
    const [red, green, blue] = c.slice(0, 3).map((v) => v / 255).map(
      (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrastOf = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  // Background colour of an element's text; null if it is a picture.
  const backgroundOf = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.backgroundImage !== "none") return null;
      layers.push(colour(style.backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    return layers.reduceRight((under, layer) => over(layer, under), dark ? [18, 18, 18, 1] : [255, 255, 255, 1]);
  };
  const opacityOf = (element) => {
    let opacity = 1;
    for (let e = element; e; e = e.parentElement) opacity *= Number(getComputedStyle(e).opacity);
    return opacity;
  };
  const textContrast = (element, style) => {
    const ink = element.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const under = backgroundOf(element);
    if (!under) return {is: 0, min: TEXT_CONTRAST};
    const [red, green, blue, alpha] = colour(ink);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= LARGE_PX || (size >= LARGE_BOLD_PX && Number(style.fontWeight) >= BOLD);
    return {is: contrastOf(over([red, green, blue, alpha * opacityOf(element)], under), under),
            min: isLarge ? LARGE_TEXT_CONTRAST : TEXT_CONTRAST};
  };

  const checkTexts = (report) => {
    for (const element of new Set(shownTexts().map((text) => text.parentElement))) {
      if (element.closest(":disabled")) continue;
      const {is, min} = textContrast(element, getComputedStyle(element));
      if (is < min) report("1.4.3", "text-contrast", element, `${is.toFixed(2)}:1, not ${min}:1`);
    }
    for (const field of all("input, textarea").filter(isShown)) {
      const hint = field.placeholder && !field.value ? getComputedStyle(field, "::placeholder") : getComputedStyle(field);
      const {is, min} = textContrast(field, hint);
      if (is < min) report("1.4.3", "text-contrast", field, `its text: ${is.toFixed(2)}:1, not ${min}:1`);
    }
  };
  // The border or background of a control must contrast with its surroundings.
  const checkControls = (report) => {
    for (const control of all(CONTROLS).filter(isShown)) {
      const around = backgroundOf(control.parentElement);
      const style = getComputedStyle(control);
      const signs = ["Top", "Right", "Bottom", "Left"].filter((side) => parseFloat(style[`border${side}Width`]) > 0)
        .map((side) => colour(style[`border${side}Color`])).concat([colour(style.backgroundColor)]);
      const best = around ? Math.max(...signs.map((sign) => contrastOf(over(sign, around), around))) : 0;
      if (best < SIGN_CONTRAST) report("1.4.11", "control-contrast", control, `${best.toFixed(2)}:1, not 3:1`);
    }
  };
  const checkGraphics = (report) => {
    for (const shape of all("svg[role=img] :is(circle, ellipse, line, path, polygon, polyline, rect)").filter(isShown)) {
      const style = getComputedStyle(shape);
      const under = backgroundOf(shape.ownerSVGElement);
      const paints = [style.fill, style.stroke].filter((paint) => paint !== "none").map(colour);
      const best = Math.max(0, ...paints.map((paint) => contrastOf(over(paint, under), under)));
      if (best < SIGN_CONTRAST) report("1.4.11", "graphic-contrast", shape, `${best.toFixed(2)}:1, not 3:1`);
    }
  };
  // Within other text a link must differ by more than hue: by decoration or by lightness.
  const checkLinks = (report) => {
    for (const link of all("a[href]").filter(isShown)) {
      const block = link.parentElement;
      const besides = [...block.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
        .map((node) => node.data.replace(/[^\p{L}\p{N}]/gu, "")).join("");
      if (!besides || getComputedStyle(link).display !== "inline") continue;
      const [own, around] = [getComputedStyle(link), getComputedStyle(block)];
      if (own.textDecorationLine.includes("underline") || parseFloat(own.borderBottomWidth) > 0) continue;
      if (Number(own.fontWeight) - Number(around.fontWeight) >= 200) continue;
      report("1.4.1", "link-colour", link, "within text only its colour shows that it is a link");
    }
  };

  const checkDocument = (report) => {
    const language = document.documentElement.lang;
    if (!/^[a-z]{2,3}(-[A-Za-z0-9]+)*$/.test(language)) report("3.1.1", "language", null, `lang is "${language}"`);
    if (!document.title.trim()) report("2.4.2", "title", null, "no title");
    const viewport = document.querySelector("meta[name=viewport]")?.content ?? "";
    if (/user-scalable\s*=\s*(no|0)|maximum-scale/.test(viewport)) report("1.4.4", "zoom", null, viewport);
    const refresh = document.querySelector("meta[http-equiv=refresh]");
    // A refresh requested in the address can be stopped by a link to the page without it.
    const stops = all("a[href]").some(
      (link) => link.pathname !== "/" && location.pathname.startsWith(link.pathname) && !link.search && !link.hash);
    if (refresh && !stops) report("2.2.1", "refresh", null, "nothing stops the reload");
  };
  const checkHeadings = (report) => {
    const headings = all("h1, h2, h3, h4, h5, h6");
    if (headings.filter((heading) => heading.tagName === "H1").length !== 1) {
      report("1.3.1", "headings", null, "there is not one h1");
    }
    let before = 0;
    for (const heading of headings) {
      const level = Number(heading.tagName[1]);
      if (level > before + 1) report("1.3.1", "headings", heading, `level ${level} after ${before}`);
      if (!heading.textContent.trim()) report("2.4.6", "heading-text", heading, "is empty");
      before = level;
    }
  };
  const checkLandmarks = (report) => {
    const mains = all("main, [role=main]");
    if (mains.length !== 1) report("1.3.1", "main", null, `${mains.length} main landmarks`);
    const first = tabbables()[0];
    const target = first?.hash && document.getElementById(first.hash.slice(1));
    const leads = target && (target.contains(mains[0]) || mains[0]?.contains(target));
    if (!leads) report("2.4.1", "skip-link", first ?? null, "the first element does not lead to the content");
    else if (!target.hasAttribute("tabindex")) report("2.4.1", "skip-link", target, "cannot take the focus");
    const homes = "main, header, footer, nav, aside, [role=search], [role=region], [role=status]";
    for (const text of shownTexts()) {
      const parent = text.parentElement;
      if (!parent.closest(homes) && parent !== first) report("1.3.1", "landmark", parent, "in no landmark");
    }
    for (const kind of ["nav, [role=navigation]", "[role=region]", "[role=search]", "aside, [role=complementary]"]) {
      const labels = all(kind).map((landmark) => landmark.getAttribute("aria-label") ?? "");
      const twice = labels.find((label, i) => labels.indexOf(label) !== i);
      if (twice !== undefined) report("1.3.1", "landmark-names", null, `two of ${kind} are named "${twice}"`);
    }
  };
  const checkTables = (report) => {
    for (const table of all("table:not([role=presentation])")) {
      const name = table.caption?.textContent.trim() || table.getAttribute("aria-label");
      if (!name) report("1.3.1", "table-caption", table, "no caption");
      const heads = all("th", table);
      if (!heads.some((head) => head.scope === "col")) report("1.3.1", "table-header", table, "no column has a header");
      const bare = heads.find((head) => !["col", "row", "colgroup", "rowgroup"].includes(head.scope));
      if (bare) report("1.3.1", "table-header", bare, "heads neither a column nor a row");
    }
  };
  const checkLists = (report) => {
    for (const list of all("ul, ol")) {
      const other = [...list.children].find((item) => item.tagName !== "LI");
      if (other) report("1.3.1", "list", other, "is no item of its list");
    }
    for (const item of all("li")) {
      if (!item.parentElement.matches("ul, ol, menu")) report("1.3.1", "list", item, "is in no list");
    }
  };
  const checkPictures = (report) => {
    for (const picture of all("img, svg, input[type=image], [role=img]")) {
      const name = picture.getAttribute("alt") ?? picture.getAttribute("aria-label");
      const hidden = picture.closest("[aria-hidden=true]") || picture.getAttribute("alt") === "";
      const isNamedImage = name && (picture.tagName !== "svg" || picture.getAttribute("role") === "img");
      if (!hidden && !isNamedImage) report("1.1.1", "picture", picture, "no text in its place");
    }
  };
  const checkReferences = (report) => {
    const ids = all("[id]").map((element) => element.id);
    for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) {
      report("4.1.1", "unique-id", document.getElementById(id), `id ${id} twice`);
    }
    for (const element of all("*")) {
      for (const {name, value} of element.attributes) {
        const missing = REFERENCES.includes(name) && value.split(/\s+/).find((id) => !document.getElementById(id));
        if (missing !== undefined && missing !== false) {
          report("4.1.2", "reference", element, `${name} names ${missing}, which is not there`);
        }
        if (name.startsWith("aria-") && !ARIA.has(name)) report("4.1.2", "aria", element, `unknown attribute ${name}`);
      }
      const role = element.getAttribute("role");
      if (role && !ROLES.has(role)) report("4.1.2", "aria", element, `there is no role ${role}`);
      if (element.tabIndex > 0) report("2.4.3", "tab-index", element, "jumps the order of the page");
    }
    for (const hidden of all("[aria-hidden=true]")) {
      const inside = [hidden, ...all("*", hidden)].find(isTabbable);
      if (inside) report("4.1.2", "hidden-focus", inside, "takes the focus and is hidden from screen readers");
    }
  };
  const checkControlNames = (report) => {
    for (const field of all("input:not([type=hidden], [type=submit]), select, textarea")) {
      if (!field.labels.length && !field.hasAttribute("aria-labelledby") && !field.hasAttribute("aria-label")) {
        report("3.3.2", "label", field, "no label");
      }
    }
    const words = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim();
    for (const element of all(":is(a, button, summary)[aria-label]").filter(isShown)) {
      const name = words(element.getAttribute("aria-label"));
      if (!name.includes(words(element.innerText))) {
        report("2.5.3", "label-in-name", element, `is called "${name}", which does not contain the visible label`);
      }
    }
    for (const box of all("[role=combobox]")) {
      if (!document.querySelector("[role=status], [aria-live]")) report("4.1.3", "status", box, "changes are not announced");
    }
  };

  // The page must not scroll horizontally; a picture or a table may scroll within its own region.
  const isScroller = (element) => {
    const {overflowX} = getComputedStyle(element);
    return (overflowX === "auto" || overflowX === "scroll") && element.scrollWidth > element.clientWidth;
  };
  const checkReflow = (report) => {
    const root = document.scrollingElement;
    if (root.scrollWidth > root.clientWidth) {
      report("1.4.10", "reflow", null, `${root.scrollWidth} px wide in ${root.clientWidth}`);
    }
    for (const scroller of all("body *").filter(isScroller).filter(isShown)) {
      if (!scroller.querySelector("table, svg[role=img], img, pre")) {
        report("1.4.10", "reflow", scroller, "text that scrolls sideways");
      }
      const reached = isTabbable(scroller) && scroller.getAttribute("aria-label");
      if (!reached) report("2.1.1", "scroll-focus", scroller, "scrolls, but cannot be focused or has no name");
    }
  };
  const linesOf = (text) => {
    const range = document.createRange();
    range.selectNodeContents(text);
    return [...range.getClientRects()].filter((box) => box.width > 0).map((box) => ({box, text}));
  };
  const checkClipping = (report, lines) => {
    for (const {box, text} of lines) {
      for (let e = text.parentElement; e && e !== document.body; e = e.parentElement) {
        const style = getComputedStyle(e);
        if (style.position === "absolute" && e.matches(".skip-link")) break;
        if (style.display === "inline") continue;
        if (style.overflowX === "auto" || style.overflowX === "scroll" || style.overflowY === "auto") break;
        const cutter = e.getBoundingClientRect();
        const isCut = box.right > cutter.right + SLACK_PX || box.left < cutter.left - SLACK_PX ||
          box.bottom > cutter.bottom + SLACK_PX || box.top < cutter.top - SLACK_PX;
        if (isCut && (style.overflowX !== "visible" || e.matches("button, input"))) {
          report("1.4.4", "clipped-text", text.parentElement, "is cut off");
          break;
        }
      }
    }
  };
  const checkOverlap = (report, lines) => {
    const sorted = [...lines].sort((a, b) => a.box.top - b.box.top);
    sorted.forEach((upper, i) => {
      for (let j = i + 1; j < sorted.length; ++j) {
        const lower = sorted[j];
        const depth = upper.box.bottom - lower.box.top;
        if (depth <= 2 * SLACK_PX) break;
        const breadth = Math.min(upper.box.right, lower.box.right) - Math.max(upper.box.left, lower.box.left);
        if (breadth > SLACK_PX && upper.text !== lower.text) {
          report("1.4.4", "overlapping-text", upper.text.parentElement, `lies over ${describe(lower.text.parentElement)}`);
          return;
        }
      }
    });
  };
  // WCAG 2.2, 2.5.8: a circle of the minimum size around a small target must not touch another
  // target.
  const checkTargets = (report) => {
    const targets = tabbables().filter(isShown).filter((element) => element.matches("a, button, input, summary"));
    const boxes = targets.map((element) => element.getBoundingClientRect());
    const middle = (box) => [box.left + box.width / 2, box.top + box.height / 2];
    targets.forEach((target, i) => {
      const box = boxes[i];
      const isInText = getComputedStyle(target).display === "inline" &&
        [...target.parentElement.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
      if ((box.width >= TARGET_PX && box.height >= TARGET_PX) || isInText) return;
      const [x, y] = middle(box);
      const isCrowded = boxes.some((other, j) => {
        const dx = Math.max(other.left - x, 0, x - other.right), dy = Math.max(other.top - y, 0, y - other.bottom);
        return j !== i && Math.hypot(dx, dy) < TARGET_PX / 2;
      });
      if (isCrowded) report("2.5.8", "target-size", target, `${Math.round(box.width)} x ${Math.round(box.height)} px`);
    });
  };

  const look = (element) => {
    const s = getComputedStyle(element);
    return [s.outlineStyle, s.outlineWidth, s.outlineColor, s.boxShadow, s.borderColor, s.backgroundColor].join("|");
  };
  let looks = new Map();
  return {
    structure() {
      const {found, report} = collector();
      for (const check of [checkDocument, checkHeadings, checkLandmarks, checkTables, checkLists, checkPictures,
                           checkReferences, checkControlNames]) check(report);
      return found;
    },
    contrast() {
      const {found, report} = collector();
      for (const check of [checkTexts, checkControls, checkGraphics, checkLinks]) check(report);
      return found;
    },
    layout() {
      const {found, report} = collector();
      const lines = shownTexts().filter((text) => !text.parentElement.matches(".skip-link")).flatMap(linesOf);
      checkReflow(report);
      checkClipping(report, lines);
      checkOverlap(report, lines);
      checkTargets(report);
      return found;
    },
    motion() {
      const {found, report} = collector();
      for (const animation of document.getAnimations()) {
        report("2.3.3", "motion", animation.effect.target, "moves though less motion is wanted");
      }
      return found;
    },
    // Called before the first key: records the focus order and the unfocused look of each element.
    // Puts the focus before the first element, or on the last.
    watch(fromEnd) {
      document.activeElement?.blur();
      document.body.tabIndex = -1;
      document.body.focus();
      document.body.removeAttribute("tabindex");
      looks = new Map(tabbables().map((element) => [element, look(element)]));
      if (fromEnd) [...looks.keys()].at(-1)?.focus();
      return looks.size;
    },
    // Returns the position of the focus in that order (-1: none), and problems of its visibility.
    focused() {
      const {found, report} = collector();
      const element = document.activeElement;
      const position = [...looks.keys()].indexOf(element);
      if (position < 0) return {position, where: element ? describe(element) : "nothing", found};
      const style = getComputedStyle(element);
      const around = backgroundOf(element.parentElement);
      const hasOutline = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
      if (looks.get(element) === look(element)) report("2.4.7", "focus-visible", element, "looks as it did before");
      if (hasOutline && around && contrastOf(over(colour(style.outlineColor), around), around) < SIGN_CONTRAST) {
        report("1.4.11", "focus-contrast", element, `outline ${style.outlineColor}`);
      }
      const box = element.getBoundingClientRect();
      const isInView = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
      if (!isInView) report("2.4.7", "focus-in-view", element, "has the focus outside of the window");
      return {position, where: describe(element), found};
    },
  };
})();
