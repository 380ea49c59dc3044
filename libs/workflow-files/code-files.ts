import { crawled } from '#libs/components/fetch/crawled-fetcher.js';
import { DEFAULT_CODE_LIMITS } from '#libs/components/ports.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type ReadFile } from './folders.js';

export type CodeBehind =
  /** Text by path in the folder. */
  | { readonly kind: 'files'; readonly files: ReadonlyMap<string, string> }
  | { readonly kind: 'fault'; readonly message: string }
  | { readonly kind: 'missing' };

/** Reads the file of this path in a folder. */
export type ReadCode = (name: string) => Promise<ReadFile>;

/** Bytes of one file. */
export const MAX_CODE_BYTES = DEFAULT_CODE_LIMITS.fileBytes;

/**
 * Reads a file of a folder, and the files there that it imports by a relative path. An import that leads nowhere is left
 * to the server, which builds the code.
 */
export const codeBehind = async (readCode: ReadCode, name: string): Promise<CodeBehind> => {
  // An address would lose such parts, and be that of another file.
  if (name.split('/').some((part) => ['', '.', '..'].includes(part))) return { kind: 'missing' };
  const entry = await readCode(name);
  if (entry.kind === 'missing') return entry;
  if (entry.kind === 'refused') return { kind: 'fault', message: `${name} ${entry.why}` };
  const fetchText = async (url: string): Promise<{ readonly finalUrl: string; readonly text: string }> => {
    const imported = decodeURIComponent(new URL(url).pathname).slice(1);
    const read = await readCode(imported);
    if (read.kind === 'missing') throw new NotThere(`${imported} is not in the folder`);
    if (read.kind === 'refused') throw new Error(`${imported} ${read.why}`);
    return { finalUrl: url, text: read.text };
  };
  try {
    const address = ORIGIN + name.split('/').map(encodeURIComponent).join('/');
    const { code, files = {} } = await crawled(fetchText, DEFAULT_CODE_LIMITS, address);
    return { kind: 'files', files: new Map([[name, code], ...Object.entries(files)]) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { kind: 'fault', message: error.message.replaceAll(ORIGIN, '').replace(OF_A_DOWNLOAD, '') };
  }
};

/** Address of a file within the crawl. Nothing is ever requested from it. */
const ORIGIN = 'http://folder.invalid/';
/** How the crawl begins its errors. */
const OF_A_DOWNLOAD = 'component_url cannot be used: ';

/** An import is then tried with other endings. */
class NotThere extends Error {
  readonly status = 404;
}
