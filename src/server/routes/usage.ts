/** `GET /app/usage` as JSON: the caller's own month (CONTRACT 8). Its page is registered with the other pages. */

import type { FastifyRequest } from "fastify";
import type { UsageReport } from "../accounts/usage-report.js";
import { authenticate } from "../caller.js";
import type { Service } from "../service.js";

export function usageOf(request: FastifyRequest, { config }: Service): UsageReport {
  const { account } = authenticate(request, config);
  return config.accounts.usage(account.name);
}
