import { Agent, get } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { Front } from './front.js';

const open = async (): Promise<{
  front: Front;
  agent: Agent;
  status: (path: string) => Promise<number | undefined>;
}> => {
  const front = await Front.listen('127.0.0.1', 0);
  const { port } = front;
  const agent = new Agent({ keepAlive: true });
  const status = (path: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port, path, agent }, (res) => {
        res.resume().once('end', () => resolve(res.statusCode));
      }).once('error', reject);
    });
  return { front, agent, status };
};

describe('Front', () => {
  it('answers 503 until it is given what serves', async () => {
    const { front, agent, status } = await open();
    expect(await status('/')).toBe(503);
    front.serve((_req, res) => res.end());
    expect(await status('/')).toBe(200);
    await front.close(60_000);
    agent.destroy();
  });

  it('lets a request finish when it closes, and ends its kept connection then and not when the grace is over', async () => {
    const { front, agent, status } = await open();
    const arrived = new Promise<() => void>((resolve) => {
      front.serve((_req, res) => resolve(() => void res.end()));
    });
    const answered = status('/slow');
    const answer = await arrived;
    const closed = front.close(600_000);
    answer();
    expect(await answered).toBe(200);
    await closed; // in less than the time-out of this spec
    agent.destroy();
  });

  it('still answers on a kept connection what was sent as it closed, and says that the connection ends', async () => {
    const { front, agent, status } = await open();
    front.serve((_req, res) => res.end());
    expect(await status('/first')).toBe(200);
    const closed = front.close(600_000);
    expect(await status('/second')).toBe(200);
    await closed;
    await expect(status('/third')).rejects.toThrow(/ECONNREFUSED/);
    agent.destroy();
  });

  it('cuts what has not finished when the grace is over', async () => {
    const { front, agent, status } = await open();
    const arrived = new Promise<void>((resolve) => {
      front.serve(() => resolve());
    });
    const answered = status('/never');
    const cut = expect(answered).rejects.toThrow();
    await arrived;
    await front.close(1);
    await cut;
    agent.destroy();
  });

  it('names the port that is in use and the setting that changes it', async () => {
    const { front, agent } = await open();
    await expect(Front.listen('127.0.0.1', front.port)).rejects.toThrow(/port \d+ on 127.0.0.1 is in use.*SLUICE_PORT/);
    await front.close(1);
    agent.destroy();
  });
});
