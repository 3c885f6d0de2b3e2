/**
 * Writes `oclif.manifest.json`, what oclif knows of all commands, at the end of a build: with it a command starts in a third of
 * the time, since only its own modules are loaded.
 */

import { writeFile } from "node:fs/promises";
import { Plugin } from "@oclif/core";
import { PACKAGE_DIR } from "../config.js";

const plugin = new Plugin({ root: PACKAGE_DIR, type: "core", ignoreManifest: true, errorOnManifestCreate: true });
await plugin.load();
await writeFile(`${PACKAGE_DIR}oclif.manifest.json`, `${JSON.stringify(plugin.manifest)}\n`);
