#!/usr/bin/env node
import { execute, settings } from "@oclif/core";

settings.enableAutoTranspile = false; // we ship JavaScript; looking for TypeScript would warn under NODE_ENV=development
await execute({ dir: import.meta.url });
