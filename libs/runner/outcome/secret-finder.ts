const { imul } = Math;

/** Number of leading characters by which a form is found. The rest of a longer form is compared from there. */
const LONGEST_START = 64;
/** Most characters in the starts of all forms, about 6 MB of memory. With more forms the starts are shorter. */
const MOST_NODES = 1 << 18;

/** A range of a text, without the character at `to`. */
export interface Found {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds the places of many forms of secrets in one pass over a text (the automaton of Aho and Corasick). A user chooses
 * forms and text, so neither their number nor their likeness may slow the pass down.
 */
export class SecretFinder {
  private readonly edges: Edges;
  /** For each node, the node of its longest suffix that also begins a form. */
  private readonly fallback: Int32Array;
  /** For each node, the length of the longest start of a form that ends there. */
  private readonly ends: Int32Array;
  /** Sorted, so that the forms with the same start are adjacent. */
  private readonly forms: readonly string[];
  private readonly startLength: number;

  /** @param least length of the shortest form, at least 1. */
  constructor(given: Iterable<string>, least: number) {
    this.forms = [...new Set(given)].sort();
    this.startLength = Math.min(LONGEST_START, Math.max(least, Math.floor(MOST_NODES / (this.forms.length || 1))));
    const starts = [...new Set(this.forms.map((form) => form.slice(0, this.startLength)))];
    const most = 1 + starts.reduce((sum, start) => sum + start.length, 0);
    this.edges = new Edges(most);
    this.fallback = new Int32Array(most);
    this.ends = new Int32Array(most);
    for (const start of starts) {
      let node = 0;
      for (let at = 0; at < start.length; at++) node = this.edges.addTo(node, start.charCodeAt(at));
      this.ends[node] = start.length;
    }
    this.linkFallbacks();
  }

  /** Yields places in order and without overlaps. */
  *find(text: string): Generator<Found> {
    let open: { from: number; to: number } | undefined;
    let node = 0;
    for (let at = 0; at < text.length; at++) {
      node = this.step(node, text.charCodeAt(at));
      const length = this.ends[node] ?? 0;
      if (length === 0) continue;
      const from = at + 1 - length;
      const to = length === this.startLength && at >= (open?.to ?? 0) ? this.endOf(text, from) : at + 1;
      if (open && from < open.to) {
        open.to = Math.max(open.to, to);
        open.from = Math.min(open.from, from);
        continue;
      }
      if (open) yield open;
      open = { from, to };
    }
    if (open) yield open;
  }

  private step(node: number, code: number): number {
    for (let from = node; ; from = this.fallback[from] ?? 0) {
      const to = this.edges.from(from, code);
      if (to !== 0 || from === 0) return to;
    }
  }

  /** Goes breadth first, because the fallback of a node is nearer to the root. Nodes are not numbered by depth. */
  private linkFallbacks(): void {
    for (const { node, parent, code } of this.edges.byDepth()) {
      const above = parent === 0 ? 0 : this.step(this.fallback[parent] ?? 0, code);
      this.fallback[node] = above;
      if (this.ends[node] === 0) this.ends[node] = this.ends[above] ?? 0;
    }
  }

  /** Returns the end of the longest text at `from` that begins a form whose start is there. */
  private endOf(text: string, from: number): number {
    let [low, high] = [0, this.forms.length];
    let to = from;
    while (to < text.length) {
      const code = text.charCodeAt(to);
      const at = to - from;
      // When the sorted forms at both ends of the range have the same code, all forms between them have it too.
      const isAlike = this.forms[low]?.charCodeAt(at) === code && this.forms[high - 1]?.charCodeAt(at) === code;
      if (isAlike) {
        to++;
        continue;
      }
      low = this.firstFrom(low, high, at, code);
      high = this.firstFrom(low, high, at, code + 1);
      if (low === high) break;
      to++;
    }
    return to;
  }

  /** Returns the first form of a range, equal before `at`, whose code at `at` is `code` or greater. */
  private firstFrom(low: number, high: number, at: number, code: number): number {
    while (low < high) {
      const middle = (low + high) >> 1;
      const form = this.forms[middle] ?? '';
      if (at < form.length && form.charCodeAt(at) >= code) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

interface Edge {
  readonly node: number;
  readonly parent: number;
  readonly code: number;
}

/** Edges of a tree of characters, in a hash table of numbers. Objects would need ten times the memory and time. */
class Edges {
  private readonly mask: number;
  private readonly table: Int32Array;
  private readonly parents: Int32Array;
  private readonly codes: Uint16Array;
  private readonly depths: Int32Array;
  private count = 1;

  constructor(most: number) {
    const size = 2 ** Math.ceil(Math.log2(2 * most + 2));
    this.mask = size - 1;
    this.table = new Int32Array(size);
    this.parents = new Int32Array(most);
    this.codes = new Uint16Array(most);
    this.depths = new Int32Array(most);
  }

  /** Returns 0 when there is none, because no edge leads to the root. */
  from(node: number, code: number): number {
    return this.table[this.placeOf(node, code)] ?? 0;
  }

  addTo(node: number, code: number): number {
    const place = this.placeOf(node, code);
    const known = this.table[place] ?? 0;
    if (known !== 0) return known;
    const made = this.count++;
    this.table[place] = made;
    this.parents[made] = node;
    this.codes[made] = code;
    this.depths[made] = (this.depths[node] ?? 0) + 1;
    return made;
  }

  byDepth(): readonly Edge[] {
    const edges = Array.from({ length: this.count - 1 }, (_, n) => n + 1);
    edges.sort((a, b) => (this.depths[a] ?? 0) - (this.depths[b] ?? 0));
    return edges.map((node) => ({ node, parent: this.parents[node] ?? 0, code: this.codes[node] ?? 0 }));
  }

  /** Returns the place of the edge, or the free place for it. */
  private placeOf(node: number, code: number): number {
    let place = (imul(node, 0x9e3779b1) ^ imul(code, 0x85ebca6b)) >>> 7;
    for (;;) {
      place &= this.mask;
      const held = this.table[place] ?? 0;
      if (held === 0 || (this.parents[held] === node && this.codes[held] === code)) return place;
      place++;
    }
  }
}
