/**
 * How many states have how many tokens, in bounded memory: exact below 8,192 tokens, above that in places of at most
 * 1/4,096 of their value.
 */

const EXACT_BITS = 13;
const EXACT = 2 ** EXACT_BITS;
const PLACES_PER_OCTAVE = EXACT / 2;
const MOST = 2 ** 31 - 1;
const BARS = 10;
const TYPICAL_SHARE = 0.9;

export interface TokenHistogram {
  readonly count: number;
  readonly total: number;
  readonly min: number;
  readonly max: number;
  add(tokens: number): void;
  /** The tokens that a share of the states has at most; of many tokens the upper end of their place. */
  atShare(share: number): number;
  /** How many states have `from` to `to` tokens, both included. */
  countWithin(from: number, to: number): number;
}

export function createTokenHistogram(): TokenHistogram {
  const places = new Uint32Array(placeOf(MOST) + 1);
  const totals = { count: 0, total: 0, min: 0, max: 0 };
  return {
    get count() {
      return totals.count;
    },
    get total() {
      return totals.total;
    },
    get min() {
      return totals.min;
    },
    get max() {
      return totals.max;
    },
    add(tokens) {
      const place = placeOf(Math.min(tokens, MOST));
      places[place] = (places[place] ?? 0) + 1;
      totals.min = totals.count === 0 ? tokens : Math.min(totals.min, tokens);
      totals.max = Math.max(totals.max, tokens);
      totals.count++;
      totals.total += tokens;
    },
    atShare(share) {
      let left = Math.max(1, Math.ceil(share * totals.count));
      for (let place = placeOf(totals.min); place < places.length; place++) {
        left -= places[place] ?? 0;
        if (left <= 0) return Math.min(totals.max, lastOf(place));
      }
      return totals.max;
    },
    countWithin(from, to) {
      let count = 0;
      const last = placeOf(Math.min(to, MOST));
      for (let place = placeOf(from); place <= last; place++) count += places[place] ?? 0;
      return count;
    },
  };
}

function placeOf(tokens: number): number {
  if (tokens < EXACT) return tokens;
  const octave = 31 - Math.clz32(tokens) - EXACT_BITS;
  return EXACT + octave * PLACES_PER_OCTAVE + (tokens >>> (octave + 1)) - PLACES_PER_OCTAVE;
}

/** The most tokens that have a place. */
function lastOf(place: number): number {
  if (place < EXACT) return place;
  const octave = Math.floor((place - EXACT) / PLACES_PER_OCTAVE);
  const within = (place - EXACT) % PLACES_PER_OCTAVE;
  return (PLACES_PER_OCTAVE + within + 1) * 2 ** (octave + 1) - 1;
}

export interface TokenBin {
  readonly from: number;
  /** Included. */
  readonly to: number;
  readonly rows: number;
}

/**
 * A histogram in some ten bins of equal width up to the 90th percentile, then ever twice as far, up to the longest state;
 * empty neighbours are one bin. No bin goes across one of the `borders`: a border is the last number of tokens of its bin.
 */
export function binsOf(histogram: TokenHistogram, borders: readonly number[]): TokenBin[] {
  if (histogram.count === 0) return [];
  const { max } = histogram;
  const typical = histogram.atShare(TYPICAL_SHARE);
  const step = niceStep((typical + 1) / BARS);
  const starts = new Set([0]);
  for (let from = step; from <= typical; from += step) starts.add(from);
  for (let from = (Math.floor(typical / step) + 1) * step; from <= max; from *= 2) starts.add(from);
  for (const border of borders) if (border >= 0 && border < max) starts.add(border + 1);
  const sorted = [...starts].sort((a, b) => a - b);
  const bins: TokenBin[] = [];
  for (const [i, from] of sorted.entries()) {
    const to = (sorted[i + 1] ?? max + 1) - 1;
    const bin = { from, to, rows: histogram.countWithin(from, to) };
    const last = bins.at(-1);
    if (last?.rows === 0 && bin.rows === 0 && !borders.includes(last.to))
      bins[bins.length - 1] = { ...bin, from: last.from };
    else bins.push(bin);
  }
  return bins;
}

/** The smallest of 1, 2, 5, 10, 20, 50, ... that is at least `least`. */
function niceStep(least: number): number {
  for (let unit = 1; ; unit *= 10) for (const step of [unit, 2 * unit, 5 * unit]) if (step >= least) return step;
}
