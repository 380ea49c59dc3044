import { ExpressionSyntaxError, readExpression, readTemplate } from '#libs/expressions/child/template.js';
import { type JsonObject } from '#libs/workflows/domain/check-shape.js';
import { expressionTexts } from '#libs/workflows/domain/expression-texts.js';
import { type Findings } from '#libs/workflows/domain/findings.js';

/** Parses every expression of a definition, and evaluates none. */
export const checkExpressions = (definition: JsonObject, found: Findings): void => {
  for (const { path, form, text } of expressionTexts(definition)) {
    if (found.hasErrorAt(path)) continue;
    try {
      if (form === 'expression') readExpression(text);
      else readTemplate(text);
    } catch (error) {
      if (!(error instanceof ExpressionSyntaxError)) throw error;
      const where = `at character ${error.at + 1}`;
      found.error(path, 'expression', `this is no JavaScript expression: ${error.message} ${where}`);
    }
  }
};
