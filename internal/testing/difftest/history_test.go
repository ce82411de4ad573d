package difftest

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
)

// histories returns the number of random cases of a test: DEED_HISTORIES, or 3000.
func histories(t *testing.T) int {
	text := os.Getenv("DEED_HISTORIES")
	if text == "" {
		return 3000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("DEED_HISTORIES: %v", err)
	}
	return n
}

// perSchema is the number of histories with each schema, and writes the number of writes in each.
const (
	perSchema = 5
	writes    = 12
)

// TestHistories checks that both engines give the same answers in random histories.
func TestHistories(t *testing.T) {
	var seen tally
	for seed := range seeds.Each(t, (histories(t)+perSchema-1)/perSchema) {
		c := gen.Seeded(seed)
		s := gen.NewSchema(c)
		w, err := newWorld(s)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, s.Document.Value())
		}
		for range perSchema {
			if h := w.random(c, &seen); h != nil {
				h = shrink(h)
				d, _ := difference(h)
				t.Fatalf("seed %d: %s\nsaved as %s", seed, d, save(t, fmt.Sprintf("found_%d", seed), h))
			}
		}
	}
	t.Logf("%+v", seen)
	for _, d := range divergences {
		t.Logf("%s: %d", d.name, d.met)
	}
	seen.check(t)
}

// tally counts events in histories, to show that the generators reach them.
type tally struct{ writes, errors, conflicts, unchanged, pruned, divergences int }

func (y *tally) check(t *testing.T) {
	if 4*y.errors > y.writes || 20*y.conflicts < y.writes || 20*y.unchanged < y.writes {
		t.Errorf("the histories are not worth much: %+v", *y)
	}
}

func (y *tally) add(before string, o outcome) {
	y.writes++
	switch {
	case o.err != "":
		y.errors++
	case o.conflicts != "":
		y.conflicts++
	case o.object == before:
		y.unchanged++
	case len(o.object) < len(before):
		y.pruned++
	}
}

// random runs one random history. It returns the history up to the first difference, or nil.
func (w *world) random(c *gen.Choices, seen *tally) *gen.History {
	writer := gen.NewWriter(c, w.schema, w.types)
	h := &gen.History{Schema: w.schema, Filters: writer.Filters()}
	deed, smd := w.start(h.Filters)
	for range writes {
		write := writer.Next(deed.live, deed.version)
		h.Writes = append(h.Writes, write)
		before := deed.live
		d, stop := compare(deed, smd, write)
		if d != "" {
			return h
		}
		if stop {
			seen.divergences++
			return nil
		}
		seen.add(string(before.AppendJSON(nil)), deed.last)
	}
	return nil
}

// compare makes one write in both engines. It returns the difference, or "", and whether a deliberate divergence ends the history.
func compare(deed *deedRun, smd *smdRun, w gen.Write) (difference string, stop bool) {
	deed.retired = w.Retired
	s := step{deed: *deed, smd: *smd, write: w}
	s.got, s.want = deed.step(w), smd.step(w)
	deed.last = s.got
	if s.got.String() == s.want.String() {
		return "", false
	}
	for i := range divergences {
		if d := &divergences[i]; d.holds(&s) {
			d.met++
			return "", true
		}
	}
	return fmt.Sprintf("deed says (%s)\n%s\nreference says (%s)\n%s", s.got.message, s.got, s.want.message, s.want), false
}
