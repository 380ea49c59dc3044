/** `format` and `inspect` of node:util, for commonly logged values. Long lists are not arranged in columns. */
interface InspectOptions {
  readonly depth?: number | null;
}

const MAX_ITEMS = 100;
const LINE = 72;

const quoted = (text: string): string => {
  const quote = !text.includes("'") ? "'" : !text.includes('"') ? '"' : !text.includes('`') ? '`' : "'";
  const escaped = text.replace(/[\\\n\t\r\b\f\v]/g, (c) => JSON.stringify(c).slice(1, -1).replace('\\u000b', '\\v'));
  return quote + (quote === "'" ? escaped.replace(/'/g, "\\'") : escaped) + quote;
};

const keyText = (key: string | symbol): string =>
  typeof key === 'symbol' ? `[${key.toString()}]` : /^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key) ? key : quoted(key);

const nameOf = (value: object): string => {
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: unknown } } | null;
  if (prototype === null) return '[Object: null prototype]';
  const name = prototype.constructor?.name;
  return typeof name === 'string' ? name : '';
};

const primitive = (value: unknown): string => {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint') return `${value}n`;
  return Object.is(value, -0) ? '-0' : String(value);
};

class Inspector {
  private readonly seen: object[] = [];
  private deepest = 0;
  constructor(private readonly depth: number) {}

  text(value: unknown, level: number): string {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return primitive(value);
    if (this.seen.includes(value)) return '[Circular *1]';
    const { head, open, close, items } = this.partsOf(value);
    const entries = this.entriesOf(value, items !== undefined);
    if (items === undefined && open === '') {
      if (entries.length === 0) return head;
    } else if (level > this.depth) return `[${nameOf(value) || 'Object'}]`;
    this.deepest = level;
    this.seen.push(value);
    const inner = [
      ...(items ?? []).slice(0, MAX_ITEMS).map((item) => item(level + 1)),
      ...((items?.length ?? 0) > MAX_ITEMS ? [`... ${(items?.length ?? 0) - MAX_ITEMS} more items`] : []),
      ...entries.map((key) => `${keyText(key)}: ${this.property(value, key, level + 1)}`),
    ];
    this.seen.pop();
    const [from, to] = open === '' ? ['{', '}'] : [open, close];
    const prefix = head === '' ? '' : `${head} `;
    if (inner.length === 0) return `${prefix}${from}${to}`;
    const length = inner.reduce((sum, part) => sum + part.length, inner.length + prefix.length);
    const isShort = length + inner.length <= LINE && !inner.some((part) => part.includes('\n'));
    if (this.deepest - level < 3 && isShort) return `${prefix}${from} ${inner.join(', ')} ${to}`;
    const indent = '  '.repeat(level);
    return `${prefix}${from}\n${indent}  ${inner.join(`,\n${indent}  `)}\n${indent}${to}`;
  }

  private property(value: object, key: string | symbol, level: number): string {
    const descriptor = Object.getOwnPropertyDescriptor(value, key);
    if (descriptor?.get) return descriptor.set ? '[Getter/Setter]' : '[Getter]';
    if (descriptor?.set) return '[Setter]';
    return this.text(descriptor?.value, level);
  }

  private entriesOf(value: object, isList: boolean): (string | symbol)[] {
    const isIndexed = isList && (Array.isArray(value) || ArrayBuffer.isView(value));
    return Reflect.ownKeys(value).filter(
      (key) => Object.prototype.propertyIsEnumerable.call(value, key) && !(isIndexed && /^\d+$/.test(String(key))),
    );
  }

  private partsOf(value: object): {
    head: string;
    open: string;
    close: string;
    items?: readonly ((level: number) => string)[];
  } {
    const name = nameOf(value);
    const item = (one: unknown) => (level: number) => this.text(one, level);
    if (Array.isArray(value))
      return {
        head: name === 'Array' ? '' : `${name}(${value.length})`,
        open: '[',
        close: ']',
        items: value.map(item),
      };
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
      const view = value as Uint8Array;
      return { head: `${name}(${view.length})`, open: '[', close: ']', items: Array.from(view, item) };
    }
    if (value instanceof Set)
      return { head: `${name}(${value.size})`, open: '{', close: '}', items: [...value].map(item) };
    if (value instanceof Map) {
      const pair =
        ([key, one]: [unknown, unknown]) =>
        (level: number) =>
          `${this.text(key, level)} => ${this.text(one, level)}`;
      return { head: `${name}(${value.size})`, open: '{', close: '}', items: [...value].map(pair) };
    }
    if (typeof value === 'function') {
      const isClass = Function.prototype.toString.call(value).startsWith('class');
      const called = value.name === '' ? ' (anonymous)' : isClass ? ` ${value.name}` : `: ${value.name}`;
      return { head: `[${isClass ? 'class' : name}${called}]`, open: '', close: '' };
    }
    if (value instanceof Error) return { head: value.stack || `[${String(value)}]`, open: '', close: '' };
    if (value instanceof RegExp) return { head: String(value), open: '', close: '' };
    if (value instanceof Date)
      return { head: Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString(), open: '', close: '' };
    if (value instanceof Promise) return { head: 'Promise', open: '{', close: '}', items: [() => '<unknown>'] };
    return { head: name === 'Object' ? '' : name, open: '{', close: '}' };
  }
}

export const inspect = (value: unknown, options: InspectOptions = {}): string =>
  new Inspector(options.depth === null ? Infinity : (options.depth ?? 2)).text(value, 0);

const directive = (letter: string, arg: unknown): string => {
  switch (letter) {
    case 's':
      if (typeof arg === 'bigint') return `${arg}n`;
      if (typeof arg === 'object' && arg !== null && !(arg instanceof Error)) return inspect(arg, { depth: 0 });
      return Object.is(arg, -0) ? '-0' : String(arg);
    case 'd':
      return typeof arg === 'bigint' ? `${arg}n` : typeof arg === 'object' ? 'NaN' : String(Number(arg));
    case 'i':
      return typeof arg === 'bigint'
        ? `${arg}n`
        : typeof arg === 'object'
          ? 'NaN'
          : String(parseInt(`${arg as string}`, 10));
    case 'f':
      return String(parseFloat(String(arg)));
    case 'j':
      try {
        return JSON.stringify(arg) ?? 'undefined';
      } catch {
        return '[Circular]';
      }
    case 'c':
      return '';
    default:
      return inspect(arg, { depth: 4 });
  }
};

export const format = (...args: unknown[]): string => {
  const [first, ...rest] = args;
  let at = 0;
  const start =
    typeof first === 'string' && rest.length > 0
      ? first.replace(/%([sdifjoOc%])/g, (whole, letter: string) => {
          if (letter === '%') return '%';
          return at < rest.length ? directive(letter, rest[at++]) : whole;
        })
      : typeof first === 'string'
        ? first
        : args.length === 0
          ? ''
          : inspect(first);
  return [start, ...rest.slice(at).map((arg) => (typeof arg === 'string' ? arg : inspect(arg)))].join(' ');
};
