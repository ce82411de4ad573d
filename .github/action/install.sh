#!/usr/bin/env bash
# Puts deed into $RUNNER_TEMP/deed: the archive of a release if the action is used at a release ($DEED_REF), with its checksum
# verified, or else what Go builds of the action's own files.
set -euo pipefail
mkdir -p "$RUNNER_TEMP/deed"
cd "$RUNNER_TEMP/deed"

system=$(uname -s | tr '[:upper:]' '[:lower:]')
case $(uname -m) in
x86_64) processor=amd64 ;;
aarch64 | arm64) processor=arm64 ;;
*) processor= ;;
esac
if [[ $DEED_REF =~ ^v[0-9]+\.[0-9]+\.[0-9]+$ && $system =~ ^(linux|darwin)$ && $processor ]]; then
	archive=deed_${DEED_REF}_${system}_$processor.tar.gz
	from=${DEED_DOWNLOADS:-https://github.com/deed-project/deed/releases/download}/$DEED_REF
	curl -fsSL --retry 3 -O "$from/$archive" -O "$from/checksums.txt"
	grep "  $archive\$" checksums.txt >checksum.txt
	if command -v sha256sum >/dev/null; then sha256sum -c checksum.txt; else shasum -a 256 -c checksum.txt; fi
	tar -xzf "$archive" deed deed-validate
else
	(cd "$GITHUB_ACTION_PATH" && go build -o "$RUNNER_TEMP/deed/" ./cmd/deed ./cmd/deed-validate)
fi
./deed version
