/**
 * Script for Bash, also for version 3 and without the package bash-completion. Words of the line and of the reply are
 * never evaluated: they may be anything that somebody typed or named (docs/adr/0092-the-package.md).
 */
export const BASH = String.raw`# bash completion for sluice
_sluice_complete() {
  local line tab=$'\t'
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :0) if type compopt >/dev/null 2>&1; then compopt -o default; fi ;;
      :*) ;;
      *) COMPREPLY+=("${'${'}line%%"$tab"*}") ;;
    esac
  done < <(sluice complete -- "${'${'}COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _sluice_complete sluice
`;
