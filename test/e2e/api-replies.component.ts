import { componentCode } from '#test/harness/component-code.js';

/** A source with each kind of prop. */
export const CODE = componentCode({
  props: `
    http: '$.interface.http',
    timer: { type: '$.interface.timer', static: { intervalSeconds: 3600 } },
    db: '$.service.db',
    notice: { type: 'alert', content: 'Mind the gap' },
    token: { type: 'string', label: 'Token', description: 'A secret', secret: true },
    kind: { type: 'string', options: [{ label: 'A', value: 'a' }, 'b'], default: 'a', optional: true },
    count: { type: 'integer', min: 1, max: 9, default: 3 },
    remote: { type: 'string', optional: true, options() { return ['x']; } },
  `,
  members: `
    description: 'Says and does',
    annotations: { readOnlyHint: true },
    sampleEmit: { plain: true },
    hooks: { async activate() { if (this.count === 9) throw new Error('nine'); } },
    run(event) {
      console.log('run');
      if (event.body?.fail) throw new Error('asked to fail');
      this.$emit({ plain: true });
      this.$emit({ text: 'x'.repeat(3_000) }, { id: 7, summary: 'Large', ts: 1_700_000_000_000 });
    },`,
});
