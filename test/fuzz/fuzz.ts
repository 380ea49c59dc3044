import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient } from '#test/harness/api-client.js';
import { relayCode } from '#test/harness/component-code.js';
import { Server } from '#test/harness/server.js';

/**
 * Sends requests made from the OpenAPI document to a server of its own, with schemathesis (`pip install
 * schemathesis==4.32.5`): `npm run fuzz [seconds]`. Fails on a 5xx, on a status or media type that is not documented, and
 * on a reply that violates its schema. `include` and `exclude` are left out, because they remove fields on purpose, and
 * streams, because they have no end.
 */
const seconds = Number(process.argv[2] ?? 90);
const program = process.env['SCHEMATHESIS'] ?? 'schemathesis';
const CHECKS = 'not_a_server_error,status_code_conformance,response_schema_conformance,content_type_conformance';

interface Description {
  readonly paths: Record<string, Record<string, { parameters?: { readonly name: string }[] }>>;
}

if (spawnSync(program, ['--version']).status !== 0) {
  console.error(`${program} cannot be run: pip install schemathesis==4.32.5, or name it in SCHEMATHESIS`);
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'sluice-fuzz-'));
const server = new Server({ env: { SLUICE_LOG_LEVEL: 'error' } });
const api = new ApiClient(server);
let status = 1;
try {
  await server.start();
  await api.createSource({ component_code: relayCode() });
  const document = await api.expect<Description>(200, 'GET', '/v1/openapi.json');
  for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item)))
    operation.parameters = (operation.parameters ?? []).filter(({ name }) => !['include', 'exclude'].includes(name));
  // The program takes ids from replies, so it would revoke its own key, and be refused from then on.
  delete document.paths['/v1/api_keys/{id}'];
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const authorization = `Authorization: Bearer ${server.apiKey}`;
  const limits = ['--max-time', String(seconds), '-n', '20', '-w', '1', '--exclude-path-regex', 'sse$'];
  const options = ['--checks', CHECKS, '--phases', 'coverage,fuzzing', '--seed', '1', ...limits];
  const run = spawnSync(program, ['run', file, '-u', server.url, '-H', authorization, ...options], {
    cwd: folder,
    stdio: 'inherit',
  });
  status = run.status ?? 1;
} finally {
  await api.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(status);
