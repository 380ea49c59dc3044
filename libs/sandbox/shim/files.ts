import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';

const TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.htm': 'text/html',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.xml': 'application/xml',
  '.zip': 'application/zip',
};

export interface FileMetadata {
  readonly name: string;
  readonly size?: number;
  readonly contentType?: string;
  readonly lastModified?: Date;
}

export interface FileWithMetadata {
  readonly stream: Readable;
  readonly metadata: FileMetadata;
}

const isUrl = (pathOrUrl: string): boolean => /^https?:\/\//i.test(pathOrUrl);
const typeOf = (name: string): string | undefined => TYPES[path.extname(name).toLowerCase()];

const remote = async (url: string): Promise<FileWithMetadata> => {
  const response = await fetch(url);
  if (!response.ok || !response.body)
    throw new Error(`Failed to fetch ${url}: ${response.status} ${response.statusText}`);
  const { headers } = response;
  const disposition = /filename\*?=(?:UTF-8'')?"?([^";]+)"?/i.exec(headers.get('content-disposition') ?? '')?.[1];
  const name = disposition ?? (path.posix.basename(new URL(response.url || url).pathname) || 'file');
  const size = Number(headers.get('content-length') ?? NaN);
  const contentType = headers.get('content-type')?.split(';')[0] ?? typeOf(name);
  const modified = headers.get('last-modified');
  return {
    stream: Readable.fromWeb(response.body),
    metadata: {
      name,
      ...(Number.isFinite(size) ? { size } : {}),
      ...(contentType === undefined ? {} : { contentType }),
      ...(modified === null ? {} : { lastModified: new Date(modified) }),
    },
  };
};

const local = async (file: string): Promise<FileWithMetadata> => {
  const { size, mtime } = await stat(file);
  const name = path.basename(file);
  const contentType = typeOf(name);
  return {
    stream: createReadStream(file),
    metadata: { name, size, lastModified: mtime, ...(contentType === undefined ? {} : { contentType }) },
  };
};

/** Opens a path below /tmp, or a URL. */
export const getFileStreamAndMetadata = (pathOrUrl: string): Promise<FileWithMetadata> =>
  isUrl(pathOrUrl) ? remote(pathOrUrl) : local(pathOrUrl);

export const getFileStream = async (pathOrUrl: string): Promise<Readable> =>
  (await getFileStreamAndMetadata(pathOrUrl)).stream;
