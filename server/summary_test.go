package server

import (
	"fmt"
	"testing"

	"github.com/deed-project/deed/value"
)

// TestSummary says what a server serves of few definitions, and of more than anybody reads.
func TestSummary(t *testing.T) {
	var objects []value.Value
	for n, want := range []string{
		0: "built-in kinds and CustomResourceDefinitions",
		1: "built-in kinds, CustomResourceDefinitions and things.g0.org",
		2: "built-in kinds, CustomResourceDefinitions, things.g0.org and things.g1.org",
		7: "built-in kinds, CustomResourceDefinitions, things.g0.org, things.g1.org, things.g2.org, things.g3.org, things.g4.org and 2 more",
	} {
		if want != "" {
			s, err := New(Config{Objects: objects})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Summary(); got != want {
				t.Errorf("of %d definitions it says %q, want %q", n, got, want)
			}
			s.Close()
		}
		objects = append(objects, thing(t, "things", fmt.Sprintf("g%d.org", n)))
	}
}
