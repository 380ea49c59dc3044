import { describe, expect, it } from '@jest/globals';
import { ExpressionSyntaxError, readExpression, readTemplate } from './template.js';

/** Parts of a text, with expressions in brackets. */
const read = (text: string): readonly string[] =>
  readTemplate(text).map((part) => ('text' in part ? part.text : `[${part.code}]`));

const faultOf = (work: () => unknown): ExpressionSyntaxError => {
  try {
    work();
  } catch (error) {
    if (error instanceof ExpressionSyntaxError) return error;
    throw error;
  }
  throw new Error('it is valid');
};

describe('the expressions of a text', () => {
  it.each<[text: string, parts: readonly string[]]>([
    ['', []],
    ['plain } text }} {', ['plain } text }} {']],
    ['{{1}}', ['[1]']],
    ['a{{1}}b', ['a', '[1]', 'b']],
    ['{{a}}{{b}}', ['[a]', '[b]']],
    ['{{ {a:{b:1}} }}', ['[ {a:{b:1}} ]']],
    ['{{{a:{b:1}}}}', ['[{a:{b:1}}]']],
    ['{{ "}}" + `${a}}}` }}x', ['[ "}}" + `${a}}}` ]', 'x']],
    ['{{ /}}/.test(a) }}', ['[ /}}/.test(a) ]']],
    ['{{ a /* }} */ }}', ['[ a /* }} */ ]']],
    ['{{ (() => { return {} })() }}', ['[ (() => { return {} })() ]']],
    ['{{ a, b }}', ['[ a, b ]']],
    ['{{ a\n}}', ['[ a\n]']],
    ['\\{{x}}', ['{{x}}']],
    ['\\{{x}} {{y}}', ['{{x}} ', '[y]']],
    ['\\\\{{x}}', ['\\{{x}}']],
    ['\\{{{x}}', ['{{{x}}']],
    ['{{a}}\\{{b}}', ['[a]', '{{b}}']],
    ['{{a}} }} {{b}}', ['[a]', ' }} ', '[b]']],
  ])('of %j', (text, parts) => expect(read(text)).toEqual(parts));

  it.each<[text: string, parts: readonly string[]]>([
    ['{{ 1 // a }} b', ['[ 1 // a ]', ' b']],
    ['{{ 1 // a }} b }}', ['[ 1 // a ]', ' b }}']],
    ['{{ [1, // a }}\n 2] }}', ['[ [1, // a }}\n 2] ]']],
    ['{{ 1 + // a }}\n 2 // b\n }}', ['[ 1 + // a }}\n 2 // b\n ]']],
    ['{{ { a: 1 // }}\n } }}', ['[ { a: 1 // }}\n } ]']],
    ['{{ "//}}" }}', ['[ "//}}" ]']],
  ])('end with the first braces that make them parse, also in a comment: %j', (text, parts) =>
    expect(read(text)).toEqual(parts),
  );

  it.each<[text: string, message: RegExp, at: number]>([
    ['{{ steps. }}', /Unexpected token/, 10],
    ['a {{', /Unexpected token/, 4],
    ['{{ }}', /Unexpected token/, 3],
    ['{{ 1', /"}}" is expected after the expression, not the end of the text/, 4],
    ['{{ 1 2 }}', /"}}" is expected after the expression, not "2 }}"/, 5],
    ['{{ if (a) b }}', /Unexpected token/, 3],
    ['{{ a; b }}', /"}}" is expected after the expression, not "; b }}"/, 4],
    ['{{ 1) + (2 }}', /"}}" is expected/, 4],
    ['{{ "a }}', /Unterminated string/, 3],
    ['{{ return 1 }}', /Unexpected token/, 3],
    ['{{ await a }}', /"}}" is expected/, 9],
    [`{{ [${'// }}\n'.repeat(20)}1] }}`, /20 line comments with "}}" or more, at most 16/, 2],
  ])('are refused with the place: %j', (text, message, at) => {
    const fault = faultOf(() => readTemplate(text));
    expect(fault.message).toMatch(message);
    expect(fault.at).toBe(at);
  });

  it('are refused when they nest too deep for the parser', () => {
    expect(faultOf(() => readTemplate(`{{ ${'('.repeat(50_000)}`)).message).toBe('the expression nests too deep');
  });

  // With another parse for each "}}", each of these would take hours.
  it.each<[what: string, text: string]>([
    ['many closing braces that end nothing', `{{ [${'}}'.repeat(250_000)}`],
    ['one that never ends', `{{ "${'}}'.repeat(250_000)}`],
    ['one long text with braces', `{{ "${'}}'.repeat(250_000)}" }}`],
    ['many expressions whose comment reaches to the end', '{{1//}}'.repeat(70_000)],
    ['comments at which it may end', `{{ [${'1,//}}\n'.repeat(70_000)}] }}`],
    ['many unclosed ones', '{{ a '.repeat(100_000)],
    ['many escaped ones', '\\{{'.repeat(170_000)],
    ['blanks', `{{ 1${' '.repeat(500_000)}`],
    ['comments after it', `{{ 1${'/**/ '.repeat(100_000)}`],
  ])('are read in time that is linear: %s', (_what, text) => {
    try {
      expect(readTemplate(text).length).toBeGreaterThan(0);
    } catch (error) {
      expect(error).toBeInstanceOf(ExpressionSyntaxError);
    }
  });
});

describe('a text that is one expression', () => {
  it.each([
    ['false', 'false'],
    ['[1,2,3]', '[1,2,3]'],
    ['{a: 1}', '{a: 1}'],
    ['{{ steps.a.list }}', ' steps.a.list '],
    [' {{ 1 }}\n', ' 1 '],
    ['a // all of it', 'a // all of it'],
    ['{{ "}}" }}', ' "}}" '],
  ])('has its braces or not: %j', (text, code) => expect(readExpression(text).code).toBe(code));

  it.each([
    ['', 0],
    ['a b', 2],
    ['1; 2', 1],
    ['{{ 1 }} {{ 2 }}', 1],
    ['{{ 1 }}', undefined],
    ['x {{ 1 }}', 2],
  ])('is refused when more follows: %j', (text, at) => {
    if (at === undefined) expect(readExpression(text).at).toBe(2);
    else expect(faultOf(() => readExpression(text)).at).toBe(at);
  });
});
