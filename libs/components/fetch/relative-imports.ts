import { MAX_URL_CHARS } from '#libs/kernel/url-text.js';

/**
 * Finds a module's relative specifiers: `import`, `export … from`, `import()`, `require()` with a text literal. The
 * pattern also matches inside comments and texts, so a missing file is not an error yet. None is longer than a URL.
 */
export const relativeImports = (code: string): readonly string[] => {
  const found = new Set<string>();
  for (const pattern of PATTERNS) {
    for (const match of code.matchAll(pattern)) {
      const specifier = match[2];
      if (specifier !== undefined) found.add(specifier);
    }
  }
  return [...found];
};

const RELATIVE = String.raw`(["'\`])(\.{1,2}\/[^"'\`\n]{0,${MAX_URL_CHARS}}|\.{1,2})\1`;
const PATTERNS = [
  new RegExp(String.raw`\bfrom\s*${RELATIVE}`, 'g'),
  new RegExp(String.raw`\bimport\s*${RELATIVE}`, 'g'),
  new RegExp(String.raw`\bimport\s*\(\s*${RELATIVE}`, 'g'),
  new RegExp(String.raw`\brequire\s*\(\s*${RELATIVE}`, 'g'),
];
