// Writes the declarations of what authors import from `sluice` and `sluice/test`, beside its code in dist. The package has
// no sources.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import ts from 'typescript';

const authoring = readdirSync('libs/authoring').filter((file) => /(?<!\.spec)\.ts$/.test(file));
const files = [
  ...authoring.map((file) => `libs/authoring/${file}`),
  ...['index', 'given', 'published'].map((name) => `libs/test-kit/${name}.ts`),
];
for (const fileName of files) {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(readFileSync(fileName, 'utf8'), {
    fileName,
    reportDiagnostics: true,
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, isolatedDeclarations: true },
  });
  for (const { messageText } of diagnostics)
    throw new Error(`${fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
  writeFileSync(`dist/${fileName.replace(/\.ts$/, '.d.ts')}`, outputText);
}
