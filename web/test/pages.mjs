// Opens every page of the guide in a real browser, wide and on a phone, in its light and its dark theme.
//
//     node web/test/pages.mjs docs/book [folder for screenshots pages ...]
//
// The body must not scroll sideways, pictures must be there, and text must stand out from its ground. With a folder, the pages
// whose paths begin with one of these words are kept as pictures.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { chromiumPath } from "./chromium.mjs";

const book = resolve(process.argv[2] ?? "docs/book");
const shots = process.argv[3] && resolve(process.argv[3]);
const wanted = process.argv.slice(4);
const root = resolve(new URL("../..", import.meta.url).pathname);

const VIEWS = { wide: { width: 1366, height: 900 }, phone: { width: 390, height: 844 } };
const THEMES = ["light", "navy"];
/** Of WCAG 2.2 for text of usual size. */
const CONTRAST = 4.5;
/** Not pages for readers: all pages in one, what the table of contents is loaded from, and where an address leads that is none. */
const LEFT_OUT = ["print.html", "toc.html", "404.html"];

function pagesIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return pagesIn(path);
    return entry.name.endsWith(".html") && !LEFT_OUT.includes(entry.name) ? [path] : [];
  });
}

/** In the browser: what is wrong with the page as it is laid out. */
function complaints() {
  const found = [];
  const body = document.scrollingElement;
  if (body.scrollWidth > body.clientWidth) found.push(`scrolls sideways: ${body.scrollWidth} of ${body.clientWidth} px`);
  for (const image of document.querySelectorAll("main img")) {
    if (!image.complete || image.naturalWidth === 0) found.push(`no picture ${image.getAttribute("src")}`);
    if (!image.alt) found.push(`no text for ${image.getAttribute("src")}`);
  }
  return found;
}

/** In the browser: text that hardly stands out, by the relative luminances of WCAG 2.2. */
function faint(least) {
  const channels = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).map((value) => linear(value / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      const [, , , alpha = 1] = channels(colour);
      if (alpha > 0.5) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = new Map();
  for (const element of document.querySelectorAll(".sidebar a, main p, main li, main td, main th, main a, main code, main h1, main h2, main h3")) {
    if (!element.textContent.trim()) continue;
    const pair = [getComputedStyle(element).color, ground(element)].map(luminance).sort();
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < least) found.set(element.tagName, `${element.tagName} has a contrast of ${ratio.toFixed(1)}`);
  }
  return [...found.values()];
}

assert(existsSync(join(book, "index.html")), `${book} has no pages: make docs`);
const pages = pagesIn(book).sort();
assert(pages.length > 80, `only ${pages.length} pages`);
if (shots) mkdirSync(shots, { recursive: true });

const started = Date.now();
const browser = await chromium.launch({ executablePath: await chromiumPath(join(root, "target/tools")), args: ["--no-sandbox"] });
const wrong = [];

/** All pages in a window of their own: they are laid out when they are opened, the table of contents too. */
async function look(view) {
  const tab = await browser.newPage({ viewport: VIEWS[view] });
  for (const path of pages) {
    const name = relative(book, path);
    await tab.goto(pathToFileURL(path).href);
    for (const text of await tab.evaluate(complaints)) wrong.push(`${name} (${view}): ${text}`);
    const isKept = shots && wanted.some((word) => name.startsWith(word));
    for (const theme of view === "wide" || isKept ? THEMES : []) {
      await tab.evaluate((theme) => document.getElementById(`mdbook-theme-${theme}`).click(), theme);
      for (const text of await tab.evaluate(faint, CONTRAST)) wrong.push(`${name} (${view}, ${theme}): ${text}`);
      if (!isKept) continue;
      const file = `${name.replace(/\.html$/, "").replaceAll("/", "-")}-${view}-${theme}.png`;
      await tab.screenshot({ path: join(shots, file), animations: "disabled" });
    }
  }
  await tab.close();
}

try {
  await Promise.all(Object.keys(VIEWS).map(look));
} finally {
  await browser.close();
}
assert.deepEqual(wrong, [], `${wrong.length} of the guide's pages are not right:\n${wrong.join("\n")}`);
console.log(`${pages.length} pages are right, wide and on a phone, light and dark: ${((Date.now() - started) / 1000).toFixed(0)} s`);
