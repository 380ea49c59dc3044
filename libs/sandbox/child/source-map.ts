import { traceSegment, TraceMap } from '@jridgewell/trace-mapping';
import { type ErrorPlace } from '#libs/component-model/run-output.js';
import { COMPONENT, MAX_MAP_BYTES, SHIM } from '../protocol/source-map.js';

/** Stack of an error, with the places in the author's files. */
export interface MappedStack {
  readonly text: string;
  /** Topmost place in the author's files, if the stack has one. */
  readonly place: ErrorPlace | undefined;
}

type Place = ErrorPlace | 'runtime' | 'unknown';

/** Frames of the program that runs the component, and of Node's loader. */
const RUNTIME = /[(/ ]child\.cjs:\d+|\(?node:internal\/(?:modules|main)\//;
const FRAME = /^\s+at /;

/** Bundles by the file that stacks name. A function reads the map of one that had no error yet. */
const maps = new Map<string, TraceMap | null | (() => string | undefined)>([['component.js', null]]);
let location = locationIn(maps.keys());

/** Matches a location in one of the files. */
function locationIn(files: Iterable<string>): RegExp {
  const names = [...files].map((file) => file.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return new RegExp(`(?<![^\\s(])(?:file://)?(${names}):(\\d{1,9}):(\\d{1,9})`, 'g');
}

/** Adds a file of which stacks name a bundle, and how to get its map. The map is read at the first error, and once. */
export const mapStacks = (file: string, read: () => string | undefined): void => {
  maps.set(file, read);
  location = locationIn(maps.keys());
};

const mapOf = (file: string): TraceMap | null => {
  const known = maps.get(file) ?? null;
  if (typeof known !== 'function') return known;
  let map: TraceMap | null = null;
  try {
    const text = known();
    if (text !== undefined && text.length <= MAX_MAP_BYTES) map = parsedMap(text);
  } catch {
    // The text is not a source map, so stacks stay as they are.
  }
  maps.set(file, map);
  return map;
};

const parsedMap = (text: string): TraceMap | null => {
  const { sources, mappings } = JSON.parse(text) as { sources?: unknown; mappings?: unknown };
  if (!Array.isArray(sources) || typeof mappings !== 'string') return null;
  return new TraceMap({ version: 3, sources: sources.map(String), names: [], mappings });
};

const placeOf = (traced: TraceMap, line: number, column: number): Place => {
  const segment = traceSegment(traced, line - 1, column - 1);
  if (!segment || segment.length === 1) return 'runtime';
  // `resolvedSources` are URLs, which would change the names.
  const source = traced.sources[segment[1]] ?? '';
  if (source.startsWith(`${SHIM}:`)) return 'runtime';
  if (!source.startsWith(`${COMPONENT}:`)) return 'unknown';
  return { file: source.slice(COMPONENT.length + 1), line: segment[2] + 1, column: segment[3] + 1 };
};

interface Frame {
  readonly text: string;
  readonly isRuntime: boolean;
  readonly place: ErrorPlace | undefined;
}

const frameOf = (text: string): Frame => {
  if (RUNTIME.test(text)) return { text, isRuntime: true, place: undefined };
  let isRuntime = false;
  let found: ErrorPlace | undefined;
  const mapped = text.replace(location, (whole, file: string, line: string, column: string) => {
    const traced = mapOf(file);
    if (!traced) return whole;
    const place = placeOf(traced, Number(line), Number(column));
    if (place === 'runtime') isRuntime = true;
    if (typeof place === 'string') return whole;
    found ??= place;
    return `${place.file}:${place.line}:${place.column}`;
  });
  // The body of a CommonJS file is a function whose name repeats the file, with parameters of other names.
  const plain = mapped
    .replace(/^(\s+at )(?:component:\S+|Object\.<anonymous>|__require\d*) \((.*)\)$/, '$1$2')
    .replace(/^(\s+at (?:async )?)(exports|module)\d+\./, '$1$2.');
  return { text: found ? plain : mapped, isRuntime: isRuntime && !found, place: found };
};

/**
 * Rewrites a stack to files and lines of the author, and leaves out frames of the runtime. Reads text alone, so any
 * text that a component made is safe here.
 */
export const mappedStack = (stack: string): MappedStack => {
  const lines = stack.split('\n');
  const first = lines.findIndex((line) => FRAME.test(line));
  if (first < 0) return { text: stack, place: undefined };
  const frames = lines.slice(first).map(frameOf);
  const place = frames.find((frame) => frame.place)?.place;
  const last = frames.findLastIndex((frame) => frame.place);
  const calledByRuntime = last >= 0 && frames.slice(last).some(({ isRuntime }) => isRuntime);
  const kept = (calledByRuntime ? frames.slice(0, last + 1) : frames).filter(({ isRuntime }) => !isRuntime);
  return { text: [...lines.slice(0, first), ...kept.map(({ text }) => text)].join('\n'), place };
};
