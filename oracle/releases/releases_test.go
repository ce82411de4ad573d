package releases

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/oracle/histories"
	"github.com/deed-project/deed/oracle/peer"
	"github.com/deed-project/deed/schema/builtin"
)

// TestReleases checks that deed answers every write of random histories like the libraries of releases. DEED_RELEASES lists versions of
// k8s.io/apimachinery, such as "v0.31.14 v0.36.2", which play the same histories. DEED_HISTORIES is their number, and DEED_SEED the first
// one. The test ends early, and passes, a minute before its time is over.
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
	s := &search{worlds: map[string]*histories.World{}, parted: map[string]int{}}
	for _, version := range versions {
		program, err := Build("..", t.TempDir(), version)
		if err != nil {
			t.Fatal(err)
		}
		l, err := newLibrary(version, program)
		if err != nil {
			t.Fatal(err)
		}
		s.libraries = append(s.libraries, l)
	}
	if end, ok := t.Deadline(); ok {
		defer time.AfterFunc(time.Until(end.Add(-time.Minute)), func() { s.late.Store(true) }).Stop()
	}
	synctest.Test(t, func(t *testing.T) { s.compare(t, seeds.First(t), uint64(count)) })
}

// library is the library of a release, with deed's knowledge of it.
type library struct {
	*Player
	version string
	program Program
	minor   int
	release *builtin.Release
	again   int // how many histories were played again
}

// newLibrary returns the library in a version, such as v0.31.14, with a program that is not started.
func newLibrary(version string, program Program) (l *library, err error) {
	l = &library{version: version, program: program}
	if _, err := fmt.Sscanf(version, "v0.%d.", &l.minor); err != nil {
		return nil, err
	}
	l.release, err = builtin.ReleaseOf("v1" + strings.TrimPrefix(version, "v0"))
	return l, err
}

// search plays the same histories in several libraries.
type search struct {
	libraries []*library
	kinds     []string                    // worlds of built-in kinds
	worlds    map[string]*histories.World // that are open, by name and release: the built-in ones, and those of the last definition
	parted    map[string]int              // the number of histories of custom resources in which releases differ, by the releases
	writes    int
	late      atomic.Bool // it is time to end
}

// compare plays histories. It ends after ten differences from deed.
func (s *search) compare(t *testing.T, first, count uint64) {
	known := &Known{}
	for _, l := range s.libraries {
		var err error
		if l.Player, err = Start(l.program.Path, known); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := l.Stop(); err != nil {
				t.Error(err)
			}
			t.Logf("%s: %v of CPU, %d histories were played again", l.version, l.command.ProcessState.UserTime(), l.again)
		}()
		t.Logf("%s: engine %.12s", l.version, l.program.Engine)
	}
	var err error
	if s.kinds, err = histories.Unstructured(); err != nil {
		t.Fatal(err)
	}
	n := first
	for differences := 0; n < first+count && differences < 10 && !s.late.Load(); n++ {
		diff, err := s.history(n)
		if err != nil {
			t.Fatalf("history %d: %v", n, err)
		}
		if diff != nil {
			differences++
			diff.report(t, n)
		}
		if (n+1-first)%1000 == 0 {
			t.Logf("%d histories, %d writes", n+1-first, s.writes)
		}
	}
	t.Logf("%d histories, %d writes, the next one is %d", n-first, s.writes, n)
	for releases, times := range s.parted {
		t.Logf("%7d histories of custom resources part %s", times, releases)
	}
}

// side is deed as it is for some of the libraries, with an object of its own.
type side struct {
	*histories.Player
	libraries []*library // with different engines
	script    histories.Script
	exchanges []histories.Exchange
}

// newSide returns a side without libraries.
func newSide(w *histories.World) *side {
	p := &side{Player: &histories.Player{World: w}, script: histories.Script{World: w.Name, CRD: w.CRD}}
	p.Defer = func(x histories.Exchange) { p.exchanges = append(p.exchanges, x) }
	return p
}

// add adds a library, unless there is one with the same engine.
func (p *side) add(l *library) {
	if !slices.ContainsFunc(p.libraries, func(other *library) bool { return other.program.Engine == l.program.Engine }) {
		p.libraries = append(p.libraries, l)
	}
}

// play plays a write. Its time has passed if another side played it before.
func (p *side) play(op histories.Op, before bool) error {
	if op.Subresource == "resize" && p.libraries[0].minor <= 31 { // its filter is a pattern, and release 1.31 has none
		op.Subresource = ""
	}
	p.script.Ops = append(p.script.Ops, op)
	if before {
		op.After = 0
	}
	_, err := p.Play(op)
	return err
}

// check asks the libraries for their answers to the history of the side. A library that answers otherwise than deed plays the history again,
// a write at a time, because some of its answers depend on the order of maps: see [histories.Player].
func (p *side) check() (*difference, error) {
	equal := make([][]byte, len(p.exchanges)) // objects that are equal to deed's
	for _, l := range p.libraries {
		for i, answer := range l.Answers(p.exchanges) {
			if answer.Err == nil && bytes.Equal(answer.Object, equal[i]) {
				continue
			}
			if p.Check(p.exchanges[i], answer) == nil {
				equal[i] = answer.Object
				continue
			}
			l.again++
			diff, err := l.replay(p.script)
			if diff != nil || err != nil {
				return &difference{diff, l, p.script}, err
			}
			break
		}
	}
	return nil, nil
}

// difference is a difference between deed and a library at the end of a script.
type difference struct {
	*histories.Difference
	library *library
	script  histories.Script
}

// history plays history n for all libraries. The writes are made for the object of one side. Every third history is of a built-in kind. The
// others are of custom resources, and thirty consecutive ones share a definition.
func (s *search) history(n uint64) (*difference, error) {
	name, crd := fmt.Sprint("custom ", n/30), []byte(nil)
	if n%3 == 0 {
		name = s.kinds[n/3%uint64(len(s.kinds))]
	} else {
		crd = histories.RandomCRD(gen.Seeded(n / 30))
	}
	sides, err := s.open(name, crd)
	if err != nil || len(sides) == 0 {
		return nil, err
	}
	unplayed := s.play(sides, gen.Seeded(n), sides[n/3%uint64(len(sides))])
	for i, p := range sides {
		if diff, err := p.check(); diff != nil || err != nil {
			return diff, err
		}
		if i > 0 && crd != nil && parted(sides[i-1], p) {
			s.parted[sides[i-1].libraries[0].version+" from "+p.libraries[0].version]++
		}
	}
	return nil, unplayed
}

// play plays a history that is made for the object of one of the sides. The error is that of a write that cannot be played.
func (s *search) play(sides []*side, c *gen.Choices, of *side) error {
	writer := histories.NewWriter(c, of.Player)
	begin()
	for range 20 + c.N(20) {
		op := writer.Next()
		s.writes++
		for i, p := range sides {
			if err := p.play(op, i > 0); err != nil {
				return fmt.Errorf("%s: %w\n%s", p.libraries[0].version, err, p.script.Format())
			}
		}
	}
	return nil
}

// begin waits for a whole second, so that times in a history do not depend on when it is played.
func begin() { time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) }

// parted reports whether the outcomes of the same writes differ between two sides.
func parted(a, b *side) bool {
	for i, op := range a.script.Ops {
		if op.Endpoint != b.script.Ops[i].Endpoint { // without resize in one of them
			return false
		}
	}
	return !slices.EqualFunc(a.exchanges, b.exchanges, func(x, y histories.Exchange) bool {
		return (x.Deed.Err == nil) == (y.Deed.Err == nil) && bytes.Equal(x.Deed.Object, y.Deed.Object)
	})
}

// open returns the sides of a world. Libraries share a side if deed has the same types and the same profile for their releases. It leaves out
// releases that do not have the kind, and kinds that client-go does not have.
func (s *search) open(name string, crd []byte) ([]*side, error) {
	sides := map[string]*side{}
	var out []*side
	for _, l := range s.libraries {
		key := name + " " + l.version
		if crd != nil {
			key = fmt.Sprint(name, l.release.Profile(), l.minor <= 31)
		}
		if sides[key] == nil {
			w, err := s.world(key, name, crd, l.release)
			if err != nil {
				return nil, err
			}
			group, _, _ := strings.Cut(w.Versions[0], "/")
			if w.Types[w.Versions[0]] == nil || group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io" {
				continue
			}
			sides[key] = newSide(w)
			out = append(out, sides[key])
		}
		sides[key].add(l)
	}
	return out, nil
}

// world returns a world as of a release. It keeps the worlds of built-in kinds, and those of the last definition.
func (s *search) world(key, name string, crd []byte, release *builtin.Release) (*histories.World, error) {
	if w, ok := s.worlds[key]; ok {
		return w, nil
	}
	for known, w := range s.worlds {
		switch {
		case w.Name == name:
			s.worlds[key] = w.As(release)
			return s.worlds[key], nil
		case crd != nil && w.CRD != nil:
			delete(s.worlds, known)
		}
	}
	w, err := histories.Open(name, crd)
	if err == nil {
		s.worlds[key] = w.As(release)
	}
	return s.worlds[key], err
}

// replay plays a script to its end, or to the library's first difference from deed.
func (l *library) replay(s histories.Script) (*histories.Difference, error) {
	w, err := histories.Open(s.World, s.CRD)
	if err != nil {
		return nil, err
	}
	p := &histories.Player{World: w.As(l.release)}
	p.Reference = func(op histories.Op, live []byte) peer.Answer {
		return l.Answers([]histories.Exchange{{Op: op, World: p.World, Time: time.Now(), Live: live}})[0]
	}
	begin()
	for _, op := range s.Ops {
		if diff, err := p.Play(op); diff != nil || err != nil {
			return diff, err
		}
	}
	return nil, nil
}

// report shrinks the script of a difference, and reports it. DEED_FAILURES names a directory for the script.
func (d *difference) report(t *testing.T, n uint64) {
	s := histories.Shrink(d.script, func(smaller histories.Script) bool {
		again, err := d.library.replay(smaller)
		return err == nil && again != nil && again.Part == d.Part
	})
	if again, err := d.library.replay(s); err == nil && again != nil {
		d.Difference = again
	}
	if dir := os.Getenv("DEED_FAILURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(d.library.version, "-", n, ".txtar")), s.Format(), 0o644); err != nil {
			t.Error(err)
		}
	}
	t.Errorf("history %d of %s: %v\n%s", n, d.library.version, d.Difference, s.Format())
}
