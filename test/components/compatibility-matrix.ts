import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from '#test/harness/paths.js';
import { loadAreas } from './areas.js';
import { type Area, type Case } from './case.js';
import { NOT_SHOWN, SHOWN_ELSEWHERE, type Shown } from './shown-elsewhere.js';
import { WORKFLOW_MEMBERS, type WorkflowMember } from './workflow-members.js';

export interface Rule {
  readonly id: string;
  readonly title: string;
  readonly section: string;
}

/** Rules of the page of the component model, by their anchors and in their order. */
export const rulesOf = (page: string): readonly Rule[] => {
  const rules: Rule[] = [];
  let section = '';
  for (const line of page.split('\n')) {
    section = /^## (.*)$/.exec(line)?.[1] ?? section;
    const [, id, title] = /<a id="([^"]+)"><\/a>\*\*(.+?)\.?\*\*/.exec(line) ?? [];
    if (id !== undefined && title !== undefined) rules.push({ id, title, section });
  }
  return rules;
};

export const componentModel = (): string => readFileSync(join(ROOT, 'docs/reference/component-model.md'), 'utf8');

const PAGE = 'component-model.md';

const WORKFLOWS_PAGE = 'workflows.md';

const INTRO = `# Compatibility matrix

Each rule of [the component model](${PAGE}) has a row. It links the components that show the rule, or the test of another kind that does. The components lie in [test/components](../../test/components), as an author writes them. Each runs through the build, the evaluation, the check of its props, and its own process.

Unless a row says otherwise, a component behaves alike at the levels \`jail (bwrap)\`, \`jail (unshare)\` and \`process\`. A machine without a level skips it, and the test says why. This page is generated from the tests: \`npm run docs:reference\`.

The members of [workflows](${WORKFLOWS_PAGE}) follow. \`same\` means as the hosted service documents it, and \`added\` what it does not have.`;

/** Content of docs/reference/compatibility-matrix.md. */
export const compatibilityMatrix = async (): Promise<string> => {
  const areas = await loadAreas();
  const rules = rulesOf(componentModel());
  const sections = [...new Set(rules.map(({ section }) => section))].map((section) => {
    const rows = rules.filter((rule) => rule.section === section).map((rule) => rowOf(rule, areas));
    return [`## ${section}`, '', '| Rule | Shown by | Levels |', '|---|---|---|', ...rows].join('\n');
  });
  return `${[INTRO, ...sections, ...workflowSections()].join('\n\n')}\n`;
};

const workflowSections = (): readonly string[] =>
  Object.entries(WORKFLOW_MEMBERS).map(([section, members]) =>
    [`## ${section}`, '', '| Member | Compared | Shown by |', '|---|---|---|', ...members.map(memberRow)].join('\n'),
  );

const memberRow = ({ name, rule, compared, test }: WorkflowMember): string =>
  `| [${name}](${WORKFLOWS_PAGE}${rule === '' ? '' : `#${rule}`}) | ${compared} | ${linkTo(test)} |`;

const rowOf = ({ id, title }: Rule, areas: readonly Area[]): string => {
  const cases = areas.flatMap((area) => area.cases).filter(({ shows }) => shows.includes(id));
  return `| [${title.replaceAll('|', '\\|')}](${PAGE}#${id}) | ${shownBy(id, cases)} | ${levelsOf(cases)} |`;
};

const shownBy = (id: string, cases: readonly Case[]): string => {
  const components = [...new Set(cases.map(({ component }) => component))];
  if (components.length > 0)
    return components.map((component) => `[${nameOf(component)}](../../test/components/${component})`).join(', ');
  const test = SHOWN_ELSEWHERE[id];
  return test ? linkTo(test) : (NOT_SHOWN[id] ?? 'no test');
};

const linkTo = ([file, title]: Shown): string => `[${basename(file)}](../../${file}): "${title}"`;

/** A component in a folder of its own has the folder's name. */
const nameOf = (component: string): string => component.split('/')[1] ?? component;

const levelsOf = (cases: readonly Case[]): string => {
  if (cases.length === 0) return 'one';
  const needs = [...new Set(cases.flatMap((one) => one.needs ?? []))];
  return needs.length === 0 ? 'all' : `all; where ${needs.join(', ')} is promised`;
};
