import { DomainError } from '#libs/kernel/domain-error.js';

const MAX_TEXT = 1_000;

/** The error for a package that a component cannot use. The message names the package. */
export const unavailable = (message: string, packageName: string): DomainError =>
  new DomainError(
    'component.package_unavailable',
    oneLine(message),
    packageName === '' ? {} : { package: oneLine(packageName) },
  );

// Texts may come from a registry.

const oneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, MAX_TEXT);
