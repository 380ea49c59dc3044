import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { ROOT } from '#test/harness/paths.js';

/** Text of test/harness/openapi-types.ts: the types of the OpenAPI document. */
export const openApiTypes = async (): Promise<string> => {
  const document = JSON.parse(readFileSync(join(ROOT, 'docs/reference/openapi.json'), 'utf8')) as OpenAPI3;
  return `// Written by \`npm run docs:reference\` from docs/reference/openapi.json.\n\n${astToString(await openapiTS(document))}`;
};
