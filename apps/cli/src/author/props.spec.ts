import { describe, expect, it } from '@jest/globals';
import { jsonLine } from './json.js';
import { propsOf, type PropSources } from './props.js';

const files: Readonly<Record<string, string>> = {
  'token.txt': 'sesame\n',
  'props.json': '{"a":1,"big":3544790567247868102}',
};
const sources: PropSources = {
  read: (file) => {
    const text = files[file];
    if (text === undefined) throw new Error(`ENOENT: ${file}`);
    return text;
  },
  variable: (name) => (name === 'T' ? 'of-the-environment' : undefined),
};

describe('the props of a command line', () => {
  it('are texts, JSON, files, variables, and those of a file before them', () => {
    const prop = ['text=a=b', 'empty=', 'count:=20', 'list:=["x"]', 'token=@token.txt', 'secret=env:T', 'a:=2'];
    expect(jsonLine(propsOf({ prop, props: 'props.json', unset: ['gone'] }, sources))).toBe(
      '{"a":2,"big":3544790567247868102,"text":"a=b","empty":"","count":20,"list":["x"],' +
        '"token":"sesame\\n","secret":"of-the-environment","gone":null}',
    );
    expect(Object.keys(propsOf({ prop: ['__proto__=x'] }, sources))).toEqual(['__proto__']);
  });

  it.each([
    [{ prop: ['nothing'] }, '--prop must be name=text'],
    [{ prop: ['5x=y'] }, '--prop must be name=text'],
    [{ prop: ['n:=hush'] }, '--prop n:= must be JSON; for a text use n='],
    [{ prop: ['n=@none'] }, '--prop n: ENOENT: none'],
    [{ prop: ['n=env:NONE'] }, '--prop n: the variable NONE is not set'],
    [{ props: 'token.txt' }, '--props: token.txt cannot be used'],
    [{ props: 'none.json' }, '--props: none.json cannot be used: ENOENT'],
  ])('are refused without their value: %j', (options, message) => {
    expect(() => propsOf(options, sources)).toThrow(message);
    expect(() => propsOf(options, sources)).not.toThrow('hush');
  });
});
