/** A disk that goes wrong: from some byte on, writes to files (or their opening) end with a system error, as on a full disk. */

import { open } from "node:fs/promises";

/**
 * Makes every write of a file handle fail once `afterBytes` are written in all; part of the failing one is written, as disks do.
 * @param {string} code of the system error, e.g. `ENOSPC`
 * @param {number} afterBytes
 */
export async function failWrites(code, afterBytes) {
  const handle = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  const { write } = prototype;
  let left = afterBytes;
  prototype.write = async function (buffer, offset, length, position) {
    if (length > left) {
      if (left > 0) await write.call(this, buffer, offset, left, position);
      left = 0;
      throw Object.assign(new Error("simulated"), { code });
    }
    left -= length;
    return write.call(this, buffer, offset, length, position);
  };
}
