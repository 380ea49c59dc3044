import { type ApiContract } from '#test/harness/api-contract.js';

/** Calls the routes of the versions of a workflow, which has two. */
export const versionsOf = async (contract: ApiContract, path: { readonly id: string }): Promise<void> => {
  await contract.expect(200, 'GET /v1/workflows/{id}/versions', { path });
  for (const of of ['', '/diff'])
    await contract.expect(200, `GET /v1/workflows/{id}/versions/{version}${of}`, { path: { ...path, version: '1' } });
  await contract.expect(404, 'GET /v1/workflows/{id}/versions/{version}', { path: { ...path, version: '99' } });
  await contract.expect(200, 'POST /v1/workflows/{id}/rollback', { path, body: { version: 1 } });
  for (const method of ['POST', 'DELETE'] as const) {
    const body = { name: 'Drafted', triggers: [{ type: 'source', uses: 'none' }], steps: [], draft: true };
    await contract.expect(400, 'PUT /v1/workflows/{id}', { path, body });
    await contract.expect(200, 'PUT /v1/workflows/{id}', {
      path,
      body: { ...body, triggers: [{ type: 'timer', interval_seconds: 60 }] },
    });
    await contract.expect(200, 'GET /v1/workflows/{id}', { path, query: { draft: 'true' } });
    if (method === 'POST') await contract.expect(200, 'POST /v1/workflows/{id}/deploy', { path });
    else await contract.expect(204, 'DELETE /v1/workflows/{id}/draft', { path });
  }
  await contract.expect(404, 'POST /v1/workflows/{id}/deploy', { path });
  await contract.expect(404, 'DELETE /v1/workflows/{id}/draft', { path });
  await contract.expect(404, 'POST /v1/workflows/{id}/rollback', { path, body: { version: 99 } });
};

/** Asks for the tools that workflows may be. */
export const toolsOf = (contract: ApiContract): Promise<unknown> =>
  contract.expect(200, 'POST /mcp', {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    headers: { accept: 'application/json, text/event-stream' },
  });
