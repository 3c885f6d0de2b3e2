/**
 * The pages of the server. To register:
 *   const context = await createPageContext(engine.deployment, { keyRequired, host });
 *   GET /app         -> playgroundPage(context), text/html, PAGE_HEADERS
 *   GET /app/usage   -> usagePage(context) unless the request accepts application/json, text/html, PAGE_HEADERS
 *   GET /app/assets/* -> readAssets()[path], its type, ASSET_HEADERS; 404 where there is none
 *   app.register(roomRoute(measureWith(engine))) in the scope that authenticates; not charged
 * Neither pages nor assets need a key: they hold nothing of any account.
 */

export { readAssets } from "./assets.js";
export { createPageContext, type PageContext } from "./page-context.js";
export { playgroundPage } from "./playground-page.js";
export { measureWith, roomRoute } from "./room-route.js";
export { usagePage } from "./usage-page.js";

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const ASSET_HEADERS = {
  "cache-control": "no-cache",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** The policy allows what comes from this server, and no inline script or style. */
export const PAGE_HEADERS = {
  ...ASSET_HEADERS,
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  vary: "accept",
} as const;
