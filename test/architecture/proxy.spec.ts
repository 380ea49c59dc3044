import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '#test/harness/paths.js';

describe('deploy/nginx.conf.template', () => {
  const conf = readFileSync(join(ROOT, 'deploy/nginx.conf.template'), 'utf8');

  // docs/reference/workflows.md#mcp
  it('sends tools of agents to the half of the API that takes the method', () => {
    expect(conf).toMatch(/^ {2}location = \/mcp \{\n {4}proxy_pass http:\/\/\$api;\n {2}\}$/m);
  });
});
