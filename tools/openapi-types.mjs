// Writes the types of docs/reference/openapi.json that the typed client of the tests is compiled with, unless they are newer.
// Does nothing without the document, as in the build of the image.
import { renameSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const fileOf = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const types = fileOf('test/harness/openapi-types.ts');
const document = fileOf('docs/reference/openapi.json');
const writtenAt = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (
  writtenAt(document) > 0 &&
  writtenAt(types) <= Math.max(writtenAt(document), writtenAt(fileOf('package-lock.json')))
) {
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  const ast = await openapiTS(new URL(`file://${document}`));
  // Another run of this program may read the file at the same time.
  writeFileSync(`${types}.${process.pid}`, astToString(ast));
  renameSync(`${types}.${process.pid}`, types);
}
