import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import { type CpuProfile } from './profile-areas.js';

/** Names the file of each function of a bundle, by the source map beside it. */
export const inSources = (profile: CpuProfile): CpuProfile => {
  const maps = new Map<string, TraceMap | undefined>();
  const mapOf = (url: string): TraceMap | undefined => {
    if (!maps.has(url)) maps.set(url, readMap(url));
    return maps.get(url);
  };
  const nodes = profile.nodes.map((node) => {
    const { url, lineNumber = 0, columnNumber = 0 } = node.callFrame;
    const map = url.startsWith('file:') ? mapOf(url) : undefined;
    const source = map && originalPositionFor(map, { line: lineNumber + 1, column: columnNumber }).source;
    return source ? { ...node, callFrame: { ...node.callFrame, url: source } } : node;
  });
  return { ...profile, nodes };
};

const readMap = (url: string): TraceMap | undefined => {
  const file = `${fileURLToPath(url)}.map`;
  return existsSync(file) ? new TraceMap(readFileSync(file, 'utf8'), `${url}.map`) : undefined;
};
