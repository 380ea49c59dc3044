// Reads reports of Jest (--json), or sums in their form.
//   failed REPORT        the files in which something failed, one a line; "all" when the report is sums only
//   count REPORT AGAIN   "passed failed skipped". AGAIN is the report of a second run of the failed files. May be empty.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [what, ...paths] = process.argv.slice(2);
const reports = paths
  .map((path) => readFileSync(path, 'utf8'))
  .flatMap((text) => (text === '' ? [] : [JSON.parse(text)]));

const sums = (report) => [
  report.numPassedTests,
  report.numFailedTests + (report.numRuntimeErrorTestSuites || 0),
  report.numPendingTests + report.numTodoTests,
];

const counted = (files) => {
  const count = (...wanted) =>
    files.flatMap((file) => file.assertionResults).filter(({ status }) => wanted.includes(status)).length;
  // A file that could not be loaded, or whose hooks failed, counts as one.
  const broken = files.filter((file) => file.status === 'failed' && !file.assertionResults.some(isFailed)).length;
  return [count('passed'), count('failed') + broken, count('pending', 'todo', 'skipped', 'disabled')];
};

const isFailed = ({ status }) => status === 'failed';

if (what === 'failed') {
  const { testResults } = reports[0];
  console.log(
    testResults
      ? testResults
          .filter(isFailed)
          .map(({ name }) => relative('.', name))
          .join('\n')
      : 'all',
  );
} else if (reports.every(({ testResults }) => testResults)) {
  // The last result of a file counts.
  const files = new Map(reports.flatMap(({ testResults }) => testResults).map((file) => [file.name, file]));
  console.log(counted([...files.values()]).join(' '));
} else console.log(sums(reports.at(-1)).join(' '));
