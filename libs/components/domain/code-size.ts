import { DomainError } from '#libs/kernel/domain-error.js';
import { type CodeLimits } from '../ports.js';

/** Throws component.too_large with field, limit and size. See docs/reference/component-model.md#code-size. */
export const checkCodeSize = (code: string, files: Readonly<Record<string, string>>, limits: CodeLimits): void => {
  const entries = Object.entries(files);
  checkLimit('component code', Buffer.byteLength(code), limits.fileBytes, 'bytes');
  checkLimit('files beside the component code', entries.length, limits.files, 'files');
  let total = Buffer.byteLength(code);
  for (const [path, text] of entries) {
    const size = Buffer.byteLength(text);
    checkLimit(`file ${path}`, size, limits.fileBytes, 'bytes');
    total += size;
  }
  checkLimit('component code and files together', total, limits.totalBytes, 'bytes');
};

export const checkLimit = (
  what: string,
  actual: number,
  limit: number,
  unit: 'bytes' | 'files' | 'addresses',
): void => {
  if (actual <= limit) return;
  const text = `${what}: ${actual} ${unit}, the limit is ${limit} ${unit}`;
  throw new DomainError('component.too_large', `${text}; make it smaller`, {
    field: what,
    limit,
    actual,
  });
};
