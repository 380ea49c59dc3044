import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import http from 'node:http';
import { type AddressInfo } from 'node:net';
import { componentCode, CUSTOM_HTTP } from '#test/harness/component-code.js';
import { jsonOf } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';

describe('props of type http_request and dir in a source', () => {
  const instance = useInstance();
  const { api } = instance;
  let service: http.Server;
  let url: string;

  beforeAll(async () => {
    service = http.createServer((request, response) => {
      const status = request.url === '/missing' ? 404 : 200;
      response.writeHead(status, { 'content-type': 'application/json', 'x-served': 'yes' });
      response.end(JSON.stringify({ url: request.url, method: request.method, auth: request.headers.authorization }));
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
  });

  const code = (): string =>
    componentCode({
      props: `${CUSTOM_HTTP}, request: { type: 'http_request', default: { method: 'GET', url: 'http://a.example' } }, dir: { type: 'dir', accessMode: 'write' }`,
      members: `async run() {
        const { writeFileSync, readFileSync } = require('node:fs');
        writeFileSync(this.dir + '/note', 'kept');
        const body = await this.request.execute();
        console.log('sent with', body.auth);
        this.http.respond({ status: 200, body: { ...body, note: readFileSync(this.dir + '/note', 'utf8'), status: body.status, served: body.headers['x-served'], same: body.data === body } });
      },`,
    });

  it('sends the configured request, and shows its token nowhere', async () => {
    const request = {
      method: 'POST',
      url: `${url}/things`,
      params: [{ name: 'q', value: 'a b' }],
      auth: { type: 'bearer', token: 'very-secret-token' },
    };
    const source = await instance.deploy(code(), { request });
    expect(source.configured_props).toMatchObject({ request: { auth: { type: 'bearer', token: '********' } } });
    expect(jsonOf(await instance.post(source, {}))).toEqual({
      url: '/things?q=a+b',
      method: 'POST',
      auth: 'Bearer very-secret-token',
      note: 'kept',
      status: 200,
      served: 'yes',
      same: true,
    });
    const [line] = await instance.history(source, 1, '$logs');
    expect(line?.event).toMatchObject({ msg: 'sent with Bearer ********' });
    // The mask sent back keeps the token.
    const moved = { ...request, url: `${url}/moved`, auth: { type: 'bearer', token: '********' } };
    const put = await api.call('PUT', `/v1/sources/${source.id}`, { body: { configured_props: { request: moved } } });
    expect(put.status).toBe(200);
    expect(jsonOf(await instance.post(source, {}))).toMatchObject({
      url: '/moved?q=a+b',
      auth: 'Bearer very-secret-token',
    });
  });

  it('fails the run for a status but 2xx, and refuses a wrong value at deployment', async () => {
    const source = await instance.deploy(code(), { request: { url: `${url}/missing` } });
    expect((await instance.post(source, {})).status).toBe(500);
    const [error] = await instance.history(source, 1, '$errors');
    expect(error?.event).toMatchObject({
      error: { name: 'AxiosError', message: expect.stringContaining('"/missing"') },
    });
    const refused = await api.call('POST', '/v1/sources', {
      body: { component_code: code(), configured_props: { request: { url: `${url}/a`, headers: [{ value: 'x' }] } } },
    });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('prop request.headers[0].name must be a text');
  });
});
