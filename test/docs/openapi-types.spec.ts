import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expectUpToDate } from '#libs/http/testing/expect-up-to-date.js';
import { readFileSync } from 'node:fs';
import { ROOT } from '#test/harness/paths.js';
import { openApiTypes } from './openapi-types.js';

describe('docs/reference/openapi.json', () => {
  it('is valid OpenAPI 3.1', async () => {
    const document = JSON.parse(readFileSync(join(ROOT, 'docs/reference/openapi.json'), 'utf8')) as { openapi: string };
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(await new Validator().validate(document)).toMatchObject({ valid: true });
    const broken = { ...document, paths: { '/v1/broken': { get: { responses: { two: {} } } } } };
    expect(await new Validator().validate(broken)).toMatchObject({ valid: false });
  });

  it('is what the types of the typed client were made of', async () => {
    expectUpToDate(join(ROOT, 'test/harness/openapi-types.ts'), await openApiTypes(), 'npm run docs:reference');
  });
});
