/**
 * The files that the pages load, by their path under `/app/assets/`. The browser's modules keep the layout of `dist/`, so that
 * their imports, those of `decision/` among them, hold without a bundler; style and icon come from `pages/`.
 */

import { readdirSync, readFileSync } from "node:fs";
import { PACKAGE_DIR } from "../../config.js";

export interface Asset {
  readonly type: string;
  readonly body: string;
}

const BROWSER_DIR = "server/pages/browser";
/** Modules outside `browser/` that its modules import. */
const SHARED = ["decision/json.js", "decision/question.js", "decision/request.js"];

/** Reads all assets; they are small and read once, at start. */
export function readAssets(packageDir: string = PACKAGE_DIR): Record<string, Asset> {
  const own = readdirSync(`${packageDir}dist/${BROWSER_DIR}`).filter((file) => file.endsWith(".js"));
  const modules = [...SHARED, ...own.map((file) => `${BROWSER_DIR}/${file}`)];
  const read = (path: string, type: string): Asset => ({ type, body: readFileSync(`${packageDir}${path}`, "utf8") });
  return {
    "page.css": read("pages/page.css", "text/css; charset=utf-8"),
    "icon.svg": read("pages/icon.svg", "image/svg+xml"),
    ...Object.fromEntries(modules.map((path) => [path, read(`dist/${path}`, "text/javascript; charset=utf-8")])),
  };
}
