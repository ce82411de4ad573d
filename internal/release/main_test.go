package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUsage checks that wrong command lines are refused with the reason.
func TestUsage(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]struct {
		code int
		text string
	}{
		"":                                {2, "Usage: go run ./internal/release COMMAND"},
		"help":                            {0, "Usage: go run ./internal/release COMMAND"},
		"build -h":                        {0, "-platforms"},
		"paint":                           {2, "Usage: go run ./internal/release COMMAND"},
		"proxy":                           {1, "proxy needs one folder"},
		"proxy -version 1 " + t.TempDir(): {1, "not a semantic version"},
		"proxy -v 1":                      {2, "flag provided but not defined: -v"},
		"bump":                            {1, "bump needs one version"},
		"build -platforms linux/386":      {1, `-platforms: "linux/386" is none of linux/amd64, `},
		"build -programs dead":            {1, `-programs: there is no program "dead"`},
		"build -o " + full:                {1, "is not empty"},
	} {
		var out, errs strings.Builder
		if code := Run(strings.Fields(line), &out, &errs); code != want.code || !strings.Contains(errs.String(), want.text) {
			t.Errorf("release %s: exit code %d, %s", line, code, errs.String())
		}
	}
}

// TestProxyCommand writes the modules of this repository at the version with which they require each other.
func TestProxyCommand(t *testing.T) {
	dir := t.TempDir()
	var out, errs strings.Builder
	if code := Run([]string{"proxy", dir}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d, %s", code, errs.String())
	}
	for _, module := range []string{"", "/cmd", "/server"} {
		list, err := os.ReadFile(filepath.Join(dir, "github.com/deed-project/deed"+module, "@v/list"))
		if err != nil || !strings.Contains(out.String(), " at "+strings.TrimSpace(string(list))) {
			t.Errorf("the versions of deed%s are %q, %v; it says %s", module, list, err, out.String())
		}
	}
}

func TestDifference(t *testing.T) {
	const want = "- b\n+ c\n"
	if got := difference("a\nb\n", "a\nc\n"); got != want {
		t.Errorf("difference = %q, want %q", got, want)
	}
}
