// Reads reports of Jest (--json).
//   failed REPORT        the files in which something failed, one a line. Nothing when that cannot be run again by file
//   count REPORT AGAIN   "passed failed skipped". AGAIN is the report of a second run of the failed files. May be empty.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [what, ...paths] = process.argv.slice(2);
const results = paths
  .map((path) => readFileSync(path, 'utf8'))
  .flatMap((text) => (text === '' ? [] : JSON.parse(text).testResults));

const counted = (files) => {
  const count = (...wanted) =>
    files.flatMap((file) => file.assertionResults).filter(({ status }) => wanted.includes(status)).length;
  // A file that could not be loaded, or whose hooks failed, counts as one.
  const broken = files.filter((file) => file.status === 'failed' && !file.assertionResults.some(isFailed)).length;
  return [count('passed'), count('failed') + broken, count('pending', 'todo', 'skipped', 'disabled')];
};

const isFailed = ({ status }) => status === 'failed';

if (what === 'failed') {
  const failed = results.filter(isFailed).map(({ name }) => relative('.', name));
  // A server that did not start has no file.
  if (failed.every((name) => name.endsWith('.ts'))) console.log(failed.join('\n'));
} else {
  // The last result of a file counts.
  const files = new Map(results.map((file) => [file.name, file]));
  console.log(counted([...files.values()]).join(' '));
}
