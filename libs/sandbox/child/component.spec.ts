import { describe, expect, it } from '@jest/globals';
import { componentOf } from './component.js';

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
