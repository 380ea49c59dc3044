import { type ApiContract } from '#test/harness/api-contract.js';

/** Calls the routes of the versions of a workflow, which has two. */
export const versionsOf = async (contract: ApiContract, path: { readonly id: string }): Promise<void> => {
  await contract.expect(200, 'GET /v1/workflows/{id}/versions', { path });
  for (const of of ['', '/diff'])
    await contract.expect(200, `GET /v1/workflows/{id}/versions/{version}${of}`, { path: { ...path, version: '1' } });
  await contract.expect(404, 'GET /v1/workflows/{id}/versions/{version}', { path: { ...path, version: '99' } });
  await contract.expect(200, 'POST /v1/workflows/{id}/rollback', { path, body: { version: 1 } });
  await contract.expect(404, 'POST /v1/workflows/{id}/rollback', { path, body: { version: 99 } });
};
