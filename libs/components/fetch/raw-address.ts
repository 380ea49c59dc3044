/** Finds the address of the raw file behind a web page, for the usual hosts of code. */
export const rawAddressHint = (page: string): string => {
  const { hostname, pathname, origin } = new URL(page);
  const github = /^\/([^/]+)\/([^/]+)\/(?:tree|edit|blame|raw)\/(.+)$/.exec(pathname);
  if (/^(www\.)?github\.com$/.test(hostname)) {
    return github === null
      ? 'give the page of one file (https://github.com/OWNER/REPO/blob/REF/PATH) or its raw form (https://raw.githubusercontent.com/OWNER/REPO/REF/PATH)'
      : `give the raw file, https://raw.githubusercontent.com/${String(github[1])}/${String(github[2])}/${String(github[3])}`;
  }
  if (pathname.includes('/-/')) return `give the raw file, ${origin}${pathname.replace(/\/-\/\w+\//, '/-/raw/')}`;
  if (hostname === 'bitbucket.org') return `give the raw file, ${origin}${pathname.replace('/src/', '/raw/')}`;
  if (hostname === 'gist.github.com') return 'give the raw file, https://gist.githubusercontent.com/OWNER/ID/raw';
  return 'give the address of the raw file, which a site of code often links as "Raw"';
};
