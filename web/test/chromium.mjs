// Finds a real browser: on the PATH, else Debian's where we may install it, else npm's.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

function onPath() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const places = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return places.find((place) => existsSync(place));
}

function fromDebian() {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return undefined;
  const run = (...words) => execFileSync("apt-get", words, { stdio: "ignore" });
  try {
    run("update", "-qq");
    run("install", "-y", "-qq", "--no-install-recommends", "chromium");
  } catch {
    return undefined;
  }
  return onPath();
}

async function fromNpm(tools) {
  const folder = join(tools, "chromium");
  mkdirSync(folder, { recursive: true });
  const words = ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "@sparticuz/chromium@138.0.2"];
  execFileSync("npm", words, { stdio: "inherit" });
  const entry = join(folder, "node_modules/@sparticuz/chromium/build/esm/index.js");
  const found = await import(pathToFileURL(entry).href);
  return found.default.executablePath();
}

/** The program; `tools` is where it may be put. */
export async function chromiumPath(tools) {
  return onPath() ?? fromDebian() ?? (await fromNpm(tools));
}

/** WebGL without a graphics card. */
export const SOFTWARE_WEBGL = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"];
export const NO_WEBGL = ["--no-sandbox", "--disable-gpu", "--disable-3d-apis"];
