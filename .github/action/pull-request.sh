#!/usr/bin/env bash
# Validates manifests and plans their server-side apply in the checkout of a pull request. The variables are the inputs of action.yml.
# The findings and the conflicts go to files in $DEED_SARIF. They are printed as text, too, with the plan, and added to the summary of
# the run. The script fails if the manifests are invalid or in conflict, after both commands ran.
set -euo pipefail
deed=$RUNNER_TEMP/deed/deed
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# call FILES ARGUMENT... runs deed with arguments, the files and folders in the lines of FILES, and all definitions.
call() {
	local files=$1 line
	shift
	while read -r line; do
		if [ -n "$line" ]; then set -- "$@" -f "$line"; fi
	done <<<"$files"
	while read -r line; do
		if [ -n "$line" ]; then set -- "$@" --crd "$line"; fi
	done <<<"$DEED_CRDS"
	"$deed" "$@"
}

# show TITLE FILE prints a file, here and in the summary.
show() {
	printf '### %s\n\n```\n%s\n```\n\n' "$1" "$(cat "$2")" | tee -a "$GITHUB_STEP_SUMMARY"
}

# base writes the objects that the manifests of $DEED_BASE make in an empty cluster to $work/live.yaml. What deed cannot apply there is
# not in that cluster, and the plan is to create it.
base() {
	local line files=
	mkdir "$work/base"
	if ! git cat-file -e "$DEED_BASE^{commit}" 2>/dev/null; then git fetch -q --depth=1 origin "$DEED_BASE"; fi
	git archive "$DEED_BASE" | tar -x -C "$work/base"
	while read -r line; do
		if [ -n "$line" ] && [ -e "$work/base/$line" ]; then files+="$work/base/$line"$'\n'; fi
	done <<<"$DEED_FILES"
	if [ -n "$files" ]; then
		call "$files" apply -R --field-manager "$DEED_FIELD_MANAGER" >"$work/live.yaml" 2>"$work/base.log" || true
	fi
	if [ -s "$work/live.yaml" ]; then DEED_LIVE=$work/live.yaml; fi
}

invalid=0 refused=0
mkdir -p "$DEED_SARIF"
call "$DEED_FILES" validate -R -o sarif >"$DEED_SARIF/validate.sarif" 2>"$work/log" || invalid=$?
call "$DEED_FILES" validate -R >"$work/validate" 2>&1 || true
show "deed validate" "$work/validate"

if [ -z "$DEED_LIVE" ] && [ -n "$DEED_BASE" ]; then base; fi
set -- plan -R --field-manager "$DEED_FIELD_MANAGER"
while read -r line; do
	if [ -n "$line" ]; then set -- "$@" --live "$line"; fi
done <<<"$DEED_LIVE"
call "$DEED_FILES" "$@" -o sarif >"$DEED_SARIF/plan.sarif" 2>"$work/log" || refused=$?
call "$DEED_FILES" "$@" >"$work/plan" 2>&1 || true
show "deed plan" "$work/plan"

exit $((invalid > refused ? invalid : refused))
