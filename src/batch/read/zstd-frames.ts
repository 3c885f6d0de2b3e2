/**
 * Cuts zstd data into its frames (RFC 8878, section 3.1): Node's stream stops without a word at the end of the first frame, and
 * takes one that was cut off for whole (seen in 22.23). Reads the headers of frames and blocks only. Pure.
 */

const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** The last four bits are free. */
const SKIPPABLE = 0x184d2a50;

export type FramePart =
  /** Bytes of the frame that has begun. */
  | { readonly type: "bytes"; readonly bytes: Uint8Array }
  /** The frame is whole. */
  | { readonly type: "end" };

export interface FrameSplitter {
  /** The parts of frames that these bytes hold, in order; of frames to be skipped nothing. @throws Error for what is no zstd data */
  push(bytes: Uint8Array): Generator<FramePart>;
  /** Whether the data so far ends where a frame ends. */
  isWhole(): boolean;
}

/** What the next bytes are: a header to be read, or content to be passed over. */
interface Step {
  readonly size: number;
  /** None for content. */
  readonly read?: (header: DataView) => Step;
}

export function createFrameSplitter(): FrameSplitter {
  let isInFrame = false;
  let header: number[] = [];
  let passed = 0;
  let hasEnded = false;

  const magic: Step = { size: 4, read: (view) => afterMagic(view.getUint32(0, true)) };
  const block: Step = { size: 3, read: (view) => afterBlock(view.getUint8(0) | (view.getUint16(1, true) << 8)) };
  let step = magic;
  let next = magic;
  let isLastBlock = false;
  let hasChecksum = false;

  /** Content of `size` bytes, and what comes then. */
  function content(size: number, then: Step): Step {
    next = then;
    return { size };
  }

  function afterMagic(value: number): Step {
    if ((value & ~0xf) >>> 0 === SKIPPABLE) return { size: 4, read: (view) => content(view.getUint32(0, true), magic) };
    if (value !== MAGIC.readUInt32LE()) throw new Error("not zstd data");
    isInFrame = true;
    isLastBlock = false;
    return { size: 1, read: (view) => afterDescriptor(view.getUint8(0)) };
  }

  function afterDescriptor(descriptor: number): Step {
    const isSingleSegment = (descriptor & 0x20) !== 0;
    hasChecksum = (descriptor & 0x04) !== 0;
    const window = isSingleSegment ? 0 : 1;
    const dictionary = [0, 1, 2, 4][descriptor & 0x03] ?? 0;
    const contentSize = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >>> 6] ?? 0;
    return content(window + dictionary + contentSize, block);
  }

  function afterBlock(value: number): Step {
    isLastBlock = (value & 1) !== 0;
    const type = (value >>> 1) & 0x03;
    if (type === 3) throw new Error("a reserved block type");
    const size = type === 1 ? 1 : value >>> 3; // a block of one byte repeated holds that byte
    return isLastBlock ? content(size + (hasChecksum ? 4 : 0), magic) : content(size, block);
  }

  /** Takes bytes of the present step; gives how many. */
  function take(bytes: Uint8Array, at: number): number {
    const { size, read } = step;
    if (read === undefined) {
      const count = Math.min(size - passed, bytes.length - at);
      passed += count;
      if (passed === size) endStep(next);
      return count;
    }
    header.push(bytes[at] as number);
    if (header.length === size) {
      const view = new DataView(Uint8Array.from(header).buffer);
      header = [];
      endStep(read(view));
    }
    return 1;
  }

  function endStep(then: Step): void {
    passed = 0;
    // a step of no bytes has ended where it begins
    step = then.read === undefined && then.size === 0 ? next : then;
    hasEnded = isInFrame && step === magic;
    if (hasEnded) isInFrame = false;
  }

  return {
    *push(bytes) {
      let from = isInFrame ? 0 : -1;
      for (let at = 0; at < bytes.length; ) {
        const wasInFrame = isInFrame;
        at += take(bytes, at);
        if (!wasInFrame && isInFrame) {
          yield { type: "bytes", bytes: MAGIC }; // perhaps begun in an earlier chunk
          from = at;
        }
        if (hasEnded) {
          hasEnded = false;
          yield { type: "bytes", bytes: bytes.subarray(from, at) };
          yield { type: "end" };
          from = -1;
        }
      }
      if (isInFrame && from < bytes.length) yield { type: "bytes", bytes: bytes.subarray(from) };
    },
    isWhole: () => step === magic && header.length === 0,
  };
}
