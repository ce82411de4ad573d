package releases

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/oracle/histories"
	"github.com/deed-project/deed/oracle/peer"
	"github.com/deed-project/deed/schema/builtin"
)

// reference is the library of a release, with deed's knowledge of it.
type reference struct {
	*Player
	minor   int
	release *builtin.Release
	kinds   []string                    // worlds of built-in kinds
	worlds  map[string]*histories.World // that are open: the built-in ones, and the last custom one
}

// TestReleases checks that deed answers every write of random histories like the library of a release. DEED_RELEASES lists versions of
// k8s.io/apimachinery, such as "v0.31.14 v0.36.2"; DEED_HISTORIES is the number of histories of each, and DEED_SEED the first one.
func TestReleases(t *testing.T) {
	versions := strings.Fields(os.Getenv("DEED_RELEASES"))
	if len(versions) == 0 {
		t.Skip("DEED_RELEASES names no versions: each takes its modules from the module proxy, and minutes")
	}
	count := 1000
	if text := os.Getenv("DEED_HISTORIES"); text != "" {
		var err error
		if count, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			program, err := Build("..", t.TempDir(), version)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) { compare(t, program, version, seeds.First(t), uint64(count)) })
		})
	}
}

// compare plays histories. It ends after ten differences.
func compare(t *testing.T, program, version string, first, count uint64) {
	player, err := Start(program)
	if err != nil {
		t.Fatal(err)
	}
	p := &reference{Player: player, worlds: map[string]*histories.World{}}
	if _, err := fmt.Sscanf(version, "v0.%d.", &p.minor); err != nil {
		t.Fatal(err)
	}
	if p.release, err = builtin.ReleaseOf("v1" + strings.TrimPrefix(version, "v0")); err != nil {
		t.Fatal(err)
	}
	if p.kinds, err = histories.Unstructured(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	}()
	writes := 0
	for n, differences := first, 0; n < first+count && differences < 10; n++ {
		s, diff, err := p.history(n)
		writes += len(s.Ops)
		if err != nil {
			t.Fatalf("history %d: %v\n%s", n, err, s.Format())
		}
		if diff != nil {
			differences++
			p.report(t, n, version, s, diff)
		}
		if played := n + 1 - first; played%1000 == 0 {
			t.Logf("%d histories, %d writes", played, writes)
		}
	}
	t.Logf("%d histories, %d writes", count, writes)
}

// history plays history n, and returns it up to the first difference. Every third one is of a built-in kind. The others are of custom
// resources, and thirty consecutive ones share a definition.
func (p *reference) history(n uint64) (histories.Script, *histories.Difference, error) {
	name, crd := fmt.Sprint("custom ", n/30), []byte(nil)
	if n%3 == 0 {
		name = p.kinds[n/3%uint64(len(p.kinds))]
	} else {
		crd = histories.RandomCRD(gen.Seeded(n / 30))
	}
	w, err := p.open(name, crd)
	if err != nil {
		return histories.Script{}, nil, err
	}
	s := histories.Script{World: name, CRD: crd}
	live := p.on(w)
	group, _, _ := strings.Cut(w.Versions[0], "/")
	if w.Types[w.Versions[0]] == nil || group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io" {
		return s, nil, nil // the release does not have the kind, or client-go does not
	}
	c := gen.Seeded(n)
	writer := histories.NewWriter(c, live)
	for range 20 + c.N(20) {
		op := writer.Next()
		if p.minor <= 31 && op.Subresource == "resize" { // its filter is a pattern, and release 1.31 has none
			op.Subresource = ""
		}
		s.Ops = append(s.Ops, op)
		if diff, err := live.Play(op); diff != nil || err != nil {
			return s, diff, err
		}
	}
	return s, nil, nil
}

// open returns a world of the release. It keeps worlds of built-in kinds, and the last one of custom resources.
func (p *reference) open(name string, crd []byte) (*histories.World, error) {
	if w, ok := p.worlds[name]; ok {
		return w, nil
	}
	w, err := histories.Open(name, crd)
	if err != nil {
		return nil, err
	}
	w.Follow(p.release)
	maps.DeleteFunc(p.worlds, func(_ string, other *histories.World) bool { return crd != nil && other.CRD != nil })
	p.worlds[name] = w
	return w, nil
}

// on returns a player of writes in a world.
func (p *reference) on(w *histories.World) *histories.Player {
	out := &histories.Player{World: w}
	out.Reference = func(op histories.Op, live []byte) peer.Answer { return p.Answer(out.World, op, live) }
	return out
}

// replay plays a script to its end, or to the first difference.
func (p *reference) replay(s histories.Script) (*histories.Difference, error) {
	w, err := histories.Open(s.World, s.CRD)
	if err != nil {
		return nil, err
	}
	w.Follow(p.release)
	live := p.on(w)
	for _, op := range s.Ops {
		if diff, err := live.Play(op); diff != nil || err != nil {
			return diff, err
		}
	}
	return nil, nil
}

// report shrinks a script that ends in a difference, and reports it. DEED_FAILURES names a directory for the script.
func (p *reference) report(t *testing.T, n uint64, version string, s histories.Script, diff *histories.Difference) {
	s = histories.Shrink(s, func(smaller histories.Script) bool {
		d, err := p.replay(smaller)
		return err == nil && d != nil && d.Part == diff.Part
	})
	if d, err := p.replay(s); err == nil && d != nil {
		diff = d
	}
	if dir := os.Getenv("DEED_FAILURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(version, "-", n, ".txtar")), s.Format(), 0o644); err != nil {
			t.Error(err)
		}
	}
	t.Errorf("history %d: %v\n%s", n, diff, s.Format())
}
