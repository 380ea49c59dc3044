import { htmlText } from '#libs/http/html-text.js';

/** The page runs no script, sends its forms only to this server, and stands in no frame. */
export const CONFIRM_POLICY = "default-src 'none'; form-action 'self'; frame-ancestors 'none'";

/** Page with a button for each way to end the wait. Programs that open every link of a mail do nothing here. */
export const confirmPage = (workflowName: string): string => {
  const name = htmlText(workflowName);
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${name}</title>
</head>
<body>
<h1>${name}</h1>
<p>A run of this workflow waits for an answer.</p>
<form method="post" action="resume"><button>Resume</button></form>
<form method="post" action="cancel"><button>Cancel</button></form>
</body>
</html>
`;
};
