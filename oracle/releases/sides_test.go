package releases

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/oracle/histories"
)

// TestSides checks which libraries are compared with one object of deed. A library with the engine of another one is left out of custom
// resources. It is not left out of built-in kinds, because each release has its own schemas.
func TestSides(t *testing.T) {
	s := &search{worlds: map[string]*histories.World{}}
	for _, text := range strings.Fields("v0.31.14=a v0.32.13=b v0.33.13=c v0.34.13=d v0.35.10=d v0.36.2=e v0.36.6=f") {
		version, engine, _ := strings.Cut(text, "=")
		l, err := newLibrary(version, Program{Engine: engine})
		if err != nil {
			t.Fatal(err)
		}
		s.libraries = append(s.libraries, l)
	}
	for _, c := range []struct {
		name string
		crd  []byte
		want string
	}{
		{"custom", histories.RandomCRD(gen.Seeded(1)), "[[31] [32 33] [34 36] [36]]"},
		{"deployment", nil, "[[31] [32] [33] [34] [35] [36] [36]]"},
		{"apiservice", nil, "[]"},
	} {
		sides, err := s.open(c.name, c.crd)
		if err != nil {
			t.Fatal(err)
		}
		got := make([][]int, len(sides))
		for i, p := range sides {
			for _, l := range p.libraries {
				got[i] = append(got[i], l.minor)
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: the sides are %v, want %s", c.name, got, c.want)
		}
	}
}
