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

// docs/reference/component-model.md#run-missing
describe('a component without run', () => {
  const head = '{"method":"POST","query":{"bodyRaw":"","body":"q"},"bodyRaw":"","body":';
  it.each([
    ['a number beyond 2^53', '{"n":12345678901234567890}'],
    ['numbers as they are written', '[1.0,-0,1E2,0.10,1e400]'],
    ['duplicate keys and their order', '{"b":1,"2":1,"a":2,"a":3}'],
    ['blanks and line ends', ' { "a" :\t[ ]\r\n}'],
    ['escapes', '{"\\u0061":"\\/\\ud800"}'],
    ['a key of prototypes', '{"__proto__":{"x":1}}'],
    ['a scalar', '9007199254740993'],
  ])('passes the text of an event on as it came: %s', (_name, body) => {
    const passed: string[] = [];
    const execution = { passOn: (text: string) => passed.push(text) } as Partial<Execution> as Execution;
    const component = new BoundComponent({ name: 'a' }, {}, { tmp: '/tmp' });
    component.run(execution, body);
    component.run(execution, `${head}${body},"url":"u"}`, { start: head.length, end: head.length + body.length });
    const whole = head.replace('"bodyRaw":"","body":{', `$&`).replace(/"bodyRaw":"","body":$/, '');
    expect(passed).toEqual([body, `${whole}"bodyRaw":${JSON.stringify(body)},"body":${body},"url":"u"}`]);
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
