package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/cli"
)

// TestPages checks that each command has a page with its flags and with the date of SOURCE_DATE_EPOCH.
func TestPages(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1793611800") // 2 November 2026
	dir := filepath.Join(t.TempDir(), "man1")
	if err := run([]string{dir}); err != nil {
		t.Fatal(err)
	}
	pages := 0
	var find func(cmd *cobra.Command)
	find = func(cmd *cobra.Command) {
		for _, below := range cmd.Commands() {
			find(below)
		}
		if !cmd.IsAvailableCommand() || cmd.IsAdditionalHelpTopicCommand() {
			return
		}
		pages++
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		page, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			return
		}
		text := string(page)
		if !strings.Contains(text, `"1" "Nov 2026"`) || !strings.Contains(text, cmd.Short) {
			t.Errorf("%s begins with %q", name, strings.Join(strings.SplitN(text, "\n", 8)[:7], "\n"))
		}
	}
	find(cli.Command())
	plan, err := os.ReadFile(filepath.Join(dir, "deed-plan.1"))
	if err != nil || !strings.Contains(string(plan), ".EX\n  set          ") {
		t.Errorf("deed-plan.1 does not keep the lines of its table, %v", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || pages < 15 || pages > len(files) {
		t.Errorf("%d commands have %d pages, %v", pages, len(files), err)
	}
}
