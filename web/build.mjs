// Makes dist/index.html: the page with its style and its script in one file, and a policy by which
// the browser runs these two and nothing else. The same sources give the same bytes: with --check
// nothing is written, and it is an error if the page that is there is not what would be.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const here = (path) => new URL(path, import.meta.url).pathname;
const bundled = async (entry, extra) => {
  const result = await build({
    entryPoints: [here(entry)],
    bundle: true,
    minify: true,
    write: false,
    target: "es2022",
    legalComments: "none",
    charset: "utf8",
    ...extra,
  });
  return result.outputFiles[0].text.trim();
};

const script = (await bundled("src/main.ts", { format: "iife" })).replaceAll("</script", "<\\/script");
const style = await bundled("src/style.css");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "connect-src 'self' ws: wss:",
  "img-src data: blob:",
  "media-src blob:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

// A function as replacement: the texts may contain what would be a pattern.
const page = readFileSync(here("src/index.html"), "utf8")
  .replace("%POLICY%", () => policy)
  .replace("%STYLE%", () => style)
  .replace("%SCRIPT%", () => script);
if (process.argv.includes("--check")) {
  if (readFileSync(here("dist/index.html"), "utf8") !== page) {
    console.error("web/dist/index.html is not what its sources make: run `npm run build` in web/ and commit it");
    process.exit(1);
  }
} else {
  mkdirSync(here("dist"), { recursive: true });
  writeFileSync(here("dist/index.html"), page);
  console.log(`dist/index.html: ${page.length} characters`);
}
