package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/internal/testing/seeds"
)

// howFlags lists the flags of apply and diff that control how they write, compare and print. A migration has no use for them.
var howFlags = []string{
	"server-side", "force-conflicts", "force-field", "force-manager", "rules", "migration", "no-migration", "validate", "no-defaults",
	"show-managed-fields", "color", "write", "dry-run", "output", "subresource",
}

// TestRemediesTakeAllInput checks that migrate has each flag of the commands that suggest it, except those that are no input.
func TestRemediesTakeAllInput(t *testing.T) {
	root := newCLI(nil, nil, nil).rootCommand()
	migrate, _, err := root.Find([]string{"migrate"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"apply", "diff"} {
		cmd, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if slices.Contains(howFlags, f.Name) {
				return
			}
			if other := migrate.Flag(f.Name); other == nil || other.Value.Type() != f.Value.Type() || slices.Contains(notCarried, f.Name) {
				t.Errorf("the migration that %s suggests leaves --%s out", name, f.Name)
			}
		})
	}
}

// TestShellWords checks that a shell reads quoted words as they were.
func TestShellWords(t *testing.T) {
	r := seeds.Rand(t)
	const bytes = "ab'\"$`\\ \t\n*?[]{}()<>|&;#~!=%é-"
	for range 100 {
		var words, quoted []string
		for range 1 + r.IntN(20) {
			var b strings.Builder
			for range r.IntN(6) {
				at := r.IntN(len(bytes))
				b.WriteByte(bytes[at])
			}
			words, quoted = append(words, b.String()), append(quoted, wording.ShellWord(b.String()))
		}
		got, err := shellWords(strings.Join(quoted, " "))
		if err != nil || !slices.Equal(got, words) {
			t.Fatalf("%q becomes %q: %v", words, got, err)
		}
	}
}
