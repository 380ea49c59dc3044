import { describe, expect, it } from '@jest/globals';
import { BoundComponent, componentOf } from './component.js';
import { type Execution } from './execution.js';

describe('the component of a module', () => {
  it.each([{}, { __esModule: true, default: {} }, Object.create(null) as object])('is missing in %j', (exported) => {
    expect(() => componentOf(exported)).toThrow('the module exports nothing');
  });

  it('may be an instance whose class declares all of it', () => {
    class Source {
      get name(): string {
        return 'x';
      }
      run(): void {}
    }
    const source = new Source();
    expect(componentOf({ __esModule: true, default: source })).toBe(source);
  });
});

describe('an app on this', () => {
  const app = { type: 'app', app: 'ledger', methods: { name: () => 'ledger' } };

  it.each([
    ['its definition', app],
    ['the namespace of its module', { __esModule: true, default: app }],
  ])('has its methods when the prop is %s', (_what, definition) => {
    const component = new BoundComponent(
      { props: { ledger: definition } },
      { ledger: { kind: 'app', auth: {} } },
      { tmp: '/tmp' },
    );
    const { ledger } = component.thisOf({} as Execution) as { ledger: typeof app.methods };
    expect(ledger.name()).toBe('ledger');
  });
});
