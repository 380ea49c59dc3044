import { describe, expect, it } from '@jest/globals';
import { MOST_TOOLS, namesOfTools } from './names-of-tools.js';

// docs/reference/rest-api.md#api-key-tools
describe('the names that a key for tools only opens', () => {
  const some = (count: number) => Array.from({ length: count }, (_, i) => `tool_${i}`);

  it.each([[['a']], [['send_mail', 'Send-Mail', '0']], [['x'.repeat(48)]], [some(MOST_TOOLS)]])('may be %j', (names) =>
    expect(namesOfTools(names)).toEqual(names),
  );

  it.each([
    [[], 'tools', 'parameter tools must have 1 to 200 names; got 0'],
    [some(MOST_TOOLS + 1), 'tools', 'parameter tools must have 1 to 200 names; got 201'],
    [[''], 'tools[0]', /got ""$/],
    [['a', 'b c'], 'tools[1]', /1 to 48 letters, digits, - and _; got "b c"$/],
    [['x'.repeat(49)], 'tools[0]', new RegExp(`got "${'x'.repeat(49)}"$`)],
    [['x'.repeat(1_000)], 'tools[0]', new RegExp(`got "${'x'.repeat(60)}"… \\(1000 characters\\)$`)],
    [['*'], 'tools[0]', /got "\*"$/],
    [['ä'], 'tools[0]', /got "ä"$/],
    [['a\n'], 'tools[0]', /got "a\\n"$/],
    [['a\0'], 'tools[0]', /got "a\\u0000"$/],
    [['a', 'b', 'a'], 'tools[2]', 'parameter tools[2] is a again, as tools[0]: leave it out'],
  ])('may not be %j', (names, field, message) => {
    expect(() => namesOfTools(names)).toThrow(
      expect.objectContaining({
        code: 'request.invalid_parameter',
        message: typeof message === 'string' ? message : expect.stringMatching(message),
        details: expect.objectContaining({ field }),
      }),
    );
  });
});
