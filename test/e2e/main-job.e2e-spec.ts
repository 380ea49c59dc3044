import { describe, expect, it } from '@jest/globals';
import { runFeedPart } from '#test/demo/feed-part.js';
import { allGithubDeliveries } from '#test/demo/github-payloads.js';
import { runGithubPart } from '#test/demo/github-part.js';
import { useInstance } from '#test/harness/instance.js';

describe('the main job, over HTTP only', () => {
  const instance = useInstance();

  it('keeps, dedupes and delivers signed GitHub webhooks, and refuses forged ones', async () => {
    const deliveries = allGithubDeliveries().filter((_, index) => index % 6 === 0);
    const figures = await runGithubPart(instance, deliveries);
    expect(figures).toEqual({
      payloads: deliveries.length,
      sent: deliveries.length + figures.repeats,
      repeats: expect.any(Number),
      forged: 5,
      refused: 5,
      emitted: deliveries.length,
      deduped: figures.repeats,
      delivered: deliveries.length,
      lost: 0,
      duplicates: 0,
      badSignatures: 0,
      altered: 0,
    });
    expect(figures.repeats).toBeGreaterThan(deliveries.length / 5);
  }, 120_000);

  it('polls a growing feed, emits each item once and oldest first', async () => {
    const figures = await runFeedPart(instance, { awaitTick: false });
    expect(figures).toMatchObject({ emitted: figures.published, delivered: figures.published });
    expect(figures).toMatchObject({ lost: 0, duplicates: 0, disordered: 0 });
    expect(figures.notModified).toBeGreaterThan(0);
    expect(figures.deduped).toBeGreaterThan(0);
  }, 60_000);
});
