import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { readFileSync } from 'node:fs';
import { ROOT } from '#test/harness/paths.js';

describe('docs/reference/openapi.json', () => {
  it('is valid OpenAPI 3.1', async () => {
    const document = JSON.parse(readFileSync(join(ROOT, 'docs/reference/openapi.json'), 'utf8')) as { openapi: string };
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(await new Validator().validate(document)).toMatchObject({ valid: true });
    const broken = { ...document, paths: { '/v1/broken': { get: { responses: { two: {} } } } } };
    expect(await new Validator().validate(broken)).toMatchObject({ valid: false });
  });
});
