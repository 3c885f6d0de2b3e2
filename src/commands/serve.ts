import { Flags } from "@oclif/core";
import { engineFlags } from "../cli/flags.js";
import { QaCommand, stopOnSignals } from "../cli/qa-command.js";
import { resolveDataDir } from "../config.js";
import { announce } from "../server/announce.js";
import { serve } from "../server/serve.js";

export default class Serve extends QaCommand {
  static override summary = "Serve the API that the official clients speak.";
  static override description = `Prints the lines that point the clients here. Log lines (JSON) go to stderr.
The first start makes an account and its key; qa keys and qa usage look after them.`;
  static override examples = [
    "<%= config.bin %> serve",
    "<%= config.bin %> serve --host 0.0.0.0 --port 8080 --deployment b",
    "<%= config.bin %> serve --no-auth --log-level warn",
  ];
  static override flags = {
    host: Flags.string({ summary: "address to listen on", default: "127.0.0.1" }),
    port: Flags.integer({ summary: "port to listen on; 0 takes a free one", default: 8080, min: 0, max: 65_535 }),
    deployment: engineFlags.deployment,
    config: Flags.file({ summary: "the path of a deployment file, as --deployment", exclusive: ["deployment"] }),
    models: engineFlags.models,
    workers: engineFlags.workers,
    data: Flags.directory({ summary: "folder of the accounts; default: qa in the user's data directory" }),
    auth: Flags.boolean({ summary: "require API keys", default: true, allowNo: true }),
    "max-in-hand": Flags.integer({ summary: "calls in hand before others get a 529; default 64 a worker", min: 1 }),
    "body-limit": Flags.integer({ summary: "bytes of a request's body", default: 2 ** 20, min: 1 }),
    "allow-host": Flags.string({ summary: "a further Host name on loopback, e.g. a proxy's", multiple: true }),
    "allow-origin": Flags.string({ summary: "an origin whose pages may call (CORS)", multiple: true }),
    "drain-seconds": Flags.integer({ summary: "time for calls in hand at shutdown", default: 10, min: 0 }),
    "log-level": Flags.option({
      options: ["trace", "debug", "info", "warn", "error", "silent"] as const,
      default: "info",
    })({
      summary: "least severe log line",
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Serve);
    const stop = stopOnSignals();
    const serving = await serve({
      engine: { deployment: flags.config ?? flags.deployment, modelsDir: flags.models, workers: flags.workers },
      host: flags.host,
      port: flags.port,
      dataDir: resolveDataDir(flags.data),
      requireKey: flags.auth,
      bodyLimitBytes: flags["body-limit"],
      ...(flags["max-in-hand"] !== undefined && { maxCallsInHand: flags["max-in-hand"] }),
      allowedHosts: flags["allow-host"] ?? [],
      allowedOrigins: flags["allow-origin"] ?? [],
      log: { level: flags["log-level"], stream: process.stderr },
      processMetrics: true,
    });
    this.log(announce(serving, flags.auth));
    try {
      await serving.started;
      await new Promise<void>((resolve) => {
        if (stop.aborted) resolve();
        stop.addEventListener("abort", () => resolve(), { once: true });
      });
    } finally {
      await serving.close(flags["drain-seconds"] * 1000);
    }
  }
}
