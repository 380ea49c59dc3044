import { type Data } from '#test/harness/api-client.js';
import { type ApiContract } from '#test/harness/api-contract.js';

/** Compares the replies of the routes that change many runs of a workflow with the OpenAPI document. */
export const bulkOf = async (contract: ApiContract, id: string, run: string): Promise<void> => {
  const selected = { path: { id }, body: { run_ids: [run] } };
  await contract.expect(202, 'POST /v1/workflows/{id}/runs/cancel', selected);
  const { data } = await contract.expect<Data<{ id: string }>>(202, 'POST /v1/workflows/{id}/runs/replay', selected);
  const replay = { path: { id, replayId: data.id } };
  await contract.expect(200, 'GET /v1/workflows/{id}/runs/replay/{replayId}', replay);
  await contract.expect(204, 'DELETE /v1/workflows/{id}/runs/replay/{replayId}', replay);
  const unknown = { path: { id, replayId: 'rpl_unknown' } };
  await contract.expect(404, 'GET /v1/workflows/{id}/runs/replay/{replayId}', unknown);
};
