import { decode, encode, type SourceMapMappings, type SourceMapSegment } from '@jridgewell/sourcemap-codec';
import { COMPONENT, MAX_MAP_BYTES } from '../protocol/source-map.js';

/** Size limit of a map that is read here. A larger one could exhaust the memory of the build. */
const MAX_READ = 8 * 1024 * 1024;

/** Comment that names a map of a file itself. esbuild would read that map and trace positions through it. */
const OWN_MAP = /[#@]\s*sourceMappingURL=/;
/** The last comment wins, and this one names nothing that can be read. */
const NO_MAP = '\n//# sourceMappingURL=none';

/** Code whose positions stay those of the uploaded text, whatever map it names. */
export const withoutOwnMap = (code: string): string => (OWN_MAP.test(code) ? code + NO_MAP : code);

interface RawMap {
  readonly sources: readonly string[];
  readonly mappings: string;
}

/**
 * Shrinks esbuild's map: every position of the component's files, one position a line of shims and packages, and no
 * names. A map over the limit keeps one position a line. Returns undefined when it is still too large.
 */
export const boundedMap = (text: string): string | undefined => {
  if (text.length > MAX_READ) return undefined;
  const { sources, mappings } = JSON.parse(text) as RawMap;
  const own = sources.map((source) => source.startsWith(`${COMPONENT}:`));
  const lines = decode(mappings).map((line) => line.filter((segment, i) => isNeeded(segment, line[i - 1], own)));
  const whole = textOf(
    sources,
    lines.map((line) => line.map(withoutName)),
  );
  if (Buffer.byteLength(whole) <= MAX_MAP_BYTES) return whole;
  const short = textOf(
    sources,
    lines.map((line) => line.slice(0, 1).map(withoutName)),
  );
  return Buffer.byteLength(short) <= MAX_MAP_BYTES ? short : undefined;
};

const isNeeded = (segment: SourceMapSegment, before: SourceMapSegment | undefined, own: readonly boolean[]): boolean =>
  own[segment[1] ?? -1] === true || before === undefined || before[1] !== segment[1];

const withoutName = (segment: SourceMapSegment): SourceMapSegment =>
  segment.length === 5 ? [segment[0], segment[1], segment[2], segment[3]] : segment;

const textOf = (sources: readonly string[], lines: SourceMapMappings): string =>
  JSON.stringify({ version: 3, sources, names: [], mappings: encode(lines) });
