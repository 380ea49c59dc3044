import { describe, expect, it } from '@jest/globals';
import { errorOf } from '#libs/http/testing/replies.js';
import { emit, id, T0 } from '../testing/emit-record.js';
import { eventsWorld as world } from '../testing/events-world.js';

const path = (n: number, more = ''): string => `/v1/sources/dc_a/events/${id(n)}${more}`;

describe('GET /v1/sources/{id}/events/{event_id}', () => {
  // docs/reference/rest-api.md#event-get #event-summary-fields
  it('answers with the whole event of the channel, and the run that emitted it', async () => {
    const { call, emitted } = await world();
    const large = { text: 'x'.repeat(5_000) };
    await emitted(
      emit(1, large, { headers: { invocation: 'inv_7', summary: 'Large' } }),
      emit(2, 2, { channel: 'named' }),
    );
    expect((await call('get', path(1))).body).toEqual({
      data: {
        id: id(1),
        indexed_at_ms: T0 + 1,
        event: large,
        metadata: {
          emit_id: 'emit-1',
          name: '',
          emitter_id: 'dc_a',
          invocation_id: 'inv_7',
          summary: 'Large',
        },
      },
    });
    expect((await call('get', path(2, '?event_name=named'))).body).toMatchObject({ data: { event: 2 } });
    const bySlug = await call('get', `/v1/sources/slug-a/events/${id(1)}`);
    expect(bySlug.body).toMatchObject({ data: { id: id(1) } });
  });

  it('answers with an event that waits, of the channel $in', async () => {
    const { call, delayed } = await world();
    const waits = { workspaceId: 'o_1', emitId: 'e', channel: 'out', hops: 0, invocation: 'inv_7' };
    await delayed.put([{ ...waits, sourceId: 'dc_a', eventId: id(1), dueAt: T0 + 9, payload: '{"n":1.0}' }]);
    expect((await call('get', path(1, '?event_name=$in'))).body).toMatchObject({
      data: { event: { n: 1 }, metadata: { name: 'out', delivery_ts: T0 + 9, invocation_id: 'inv_7' } },
    });
    expect((await call('get', path(1, '/payload?event_name=$in'))).text).toBe('{"n":1.0}');
  });

  it.each([
    ['another channel', path(1, '?event_name=other')],
    ['what was never emitted', path(9)],
    ['what is no event id', '/v1/sources/dc_a/events/latest'],
    ['the payload of neither', path(9, '/payload')],
    ['another source', `/v1/sources/dc_b/events/${id(1)}`],
  ])('does not find %s', async (_what, wanted) => {
    const { call, emitted } = await world();
    await emitted(emit(1, 1));
    expect(errorOf(await call('get', wanted))).toMatchObject({ status: 404, code: 'event_not_found' });
  });

  it('finds nothing of a source of another workspace', async () => {
    const { call } = await world();
    const reply = errorOf(await call('get', `/v1/sources/dc_other/events/${id(1)}`));
    expect(reply).toMatchObject({ status: 404, code: 'source_not_found' });
  });
});

describe('GET /v1/sources/{id}/events/{event_id}/payload', () => {
  // docs/reference/rest-api.md#event-payload
  it.each(['{"n":3544790567247868102,"x": 1.0}', '"text"', 'null', '[1e400]'])(
    'sends the exact text %s as an attachment',
    async (value) => {
      const { call, emitted } = await world();
      await emitted({ ...emit(1, null), value });
      const reply = await call('get', path(1, '/payload'));
      expect([reply.status, reply.text]).toEqual([200, value]);
      expect(reply.get('Content-Type')).toBe('application/json; charset=utf-8');
      expect(reply.get('Content-Disposition')).toBe(`attachment; filename="${id(1)}.json"`);
    },
  );

  it('sends a text of several megabytes whole, also where a list shortens it', async () => {
    const { call, emitted } = await world();
    const value = JSON.stringify({ text: 'ä'.repeat(1_500_000) });
    await emitted({ ...emit(1, null), value });
    const { status, text } = await call('get', path(1, '/payload'));
    expect([status, text === value]).toEqual([200, true]);
  });
});
